// How the viewer carries out requests that concern lessons.
#include <chrono>
#include <thread>

#include "app/viewer/viewer.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"

namespace orrery {

void Viewer::carry_out(const ShowLesson& c) {
  lessons_.show(c, view_.lesson);
}
void Viewer::carry_out(const ShowLessonFile& c) {
  lessons_.show(c, view_.lesson);
}
void Viewer::carry_out(const CloseLesson&) {
  lessons_.stop(lane_.simulation(), view_.lesson);
  view_.lesson.shown = false;
}
void Viewer::carry_out(const TurnLessonPage& c) {
  lessons_.turn(c.page, view_.lesson);
}
void Viewer::carry_out(const SetLessonScene&) {
  for (const Request& request : lessons_.scene_requests(lane_.status())) carry_out(request);
  view_.notice = "the lesson's scene is set; Ctrl+Z returns to the system before";
}
void Viewer::carry_out(const PredictLesson& c) {
  lessons_.predict(c.choice, view_.lesson);
}
void Viewer::carry_out(const MeasureLesson& c) {
  if (!c.on) {
    lessons_.stop(lane_.simulation(), view_.lesson);
    return;
  }
  require_machine("a lesson");
  lessons_.start(lane_.simulation(), view_.lesson);
  if (lockstep_) wait_for_lesson();
}

/// In a run that can be repeated, the frame waits: drawing would only disturb the measurement.
void Viewer::wait_for_lesson() {
  constexpr std::chrono::milliseconds nap{2};
  while (view_.lesson.measuring) {
    if (stop_requested()) return lessons_.stop(lane_.simulation(), view_.lesson);
    (void)lane_.collect();
    lessons_.tick(lane_.simulation(), view_.lesson);
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace orrery
