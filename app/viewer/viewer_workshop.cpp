// How the viewer carries out requests that concern the workshop.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <thread>

#include "app/viewer/viewer.h"
#include "compute/core/stop_signal.h"

namespace orrery {

void Viewer::carry_out(const OpenKernelFile& c) {
  workshop_.open(c.file);
  wait_for_workshop();
}
void Viewer::carry_out(const CloseKernelFile&) {
  workshop_.close();
}
void Viewer::carry_out(const CompileKernelFile&) {
  workshop_.compile_again();
  wait_for_workshop();
}
void Viewer::carry_out(const SaveKernelFile& c) {
  workshop_.save(c.text);
  wait_for_workshop();
}
void Viewer::carry_out(const NewKernelFile& c) {
  workshop_.open_new(c);
  wait_for_workshop();
}
void Viewer::carry_out(const BringKernelBack& c) {
  workshop_.bring_back(c.version);
  wait_for_workshop();
}

/// In a run that can be repeated, the frame waits for the check.
void Viewer::wait_for_workshop() {
  constexpr std::chrono::milliseconds nap{2};
  while (lockstep_ && workshop_.busy() && !stop_requested()) {
    workshop_.answer(lane_.simulation());
    std::this_thread::sleep_for(nap);
  }
  follow_workshop();
}

/// A kernel that was replaced waits for the end of a sweep or a lesson.
void Viewer::follow_workshop() {
  if (view_.measuring()) return;
  workshop_.answer(lane_.simulation());
  if (const std::optional<SelectKernel> select = workshop_.tick(lane_.status(), view_.workshop)) {
    try {
      carry_out(Command{*select});
      const WorkshopVersion& runs = view_.workshop.versions[static_cast<std::size_t>(view_.workshop.running) - 1];
      say(fmt::format("version {} of {} runs: compiled in {:.0f} ms, checked in {:.1f} s", runs.number,
                      view_.workshop.file, runs.compile_ms, runs.check_s));
    } catch (const std::exception& error) {
      workshop_.refused(error.what());
      (void)workshop_.tick(lane_.status(), view_.workshop);
    }
  }
  if (const std::string why = workshop_.take_rejection(view_.workshop); !why.empty()) complain(why);
}

}  // namespace orrery
