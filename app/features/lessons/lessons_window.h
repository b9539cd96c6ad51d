#pragma once

#include <optional>
#include <string>

#include "app/features/lessons/lesson_results.h"
#include "app/ui_state/command.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/status.h"
#include "app/window/session.h"
#include "compute/sim/simulation.h"

namespace orrery {
/// The lesson that the window shows, and its measurement. The shown simulation is paused while a lesson is measured.
/// All calls that change something throw UsageError if there is no lesson for it; then nothing has changed.
class LessonControl {
 public:
  /// `backends` must outlive this.
  explicit LessonControl(const Backends& backends) : backends_{backends} {}

  /// The list, or a lesson from its first page on. Both throw as parse_lesson() does.
  void show(const ShowLesson& asked, LessonStatus& status);
  void show(const ShowLessonFile& asked, LessonStatus& status);
  void turn(LessonPage page, LessonStatus& status) const;
  void predict(int choice, LessonStatus& status) const;
  /// Commands that load the lesson's scene with the first kernel that it measures. Then UndoReturn brings back what was
  /// shown before the first scene of a lesson.
  Requests scene_requests(const Status& shown);

  /// Also throws UsageError while a kernel is being chosen, and as LessonMeasurement does.
  void start(Simulation& shown, LessonStatus& status);
  /// Call once per frame.
  void tick(Simulation& shown, LessonStatus& status);
  /// Keeps what was measured.
  void stop(Simulation& shown, LessonStatus& status);

 private:
  const Lesson& lesson() const;
  const LessonPart& part() const;
  void open(Lesson lesson, int number, LessonStatus& status);
  void describe(LessonStatus& status) const;
  void end(Simulation& shown, LessonStatus& status);

  const Backends& backends_;
  std::optional<Lesson> lesson_;
  std::optional<SceneRequest> scene_;  // the last that a lesson has set
  ShownPause pause_;
  std::optional<LessonMeasurement> measurement_;
  LessonResults results_;  // of the lesson's part
};

}  // namespace orrery
