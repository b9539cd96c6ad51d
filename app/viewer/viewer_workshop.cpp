// How the viewer carries out requests that concern the workshop.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <thread>

#include "app/viewer/viewer.h"
#include "compute/core/error.h"
#include "compute/core/failure_text.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

/// Why the file's latest text is not a kernel of the window, one line.
std::string why_not_shown(const WorkshopStatus& workshop) {
  if (workshop.state != WorkshopState::unchecked) return workshop.problem;
  return fmt::format("{}: it compiles, but cannot run here: {}", workshop.file, workshop.unavailable);
}

}  // namespace

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

/// The file of --kernel-file. Throws if a film would be one of another kernel.
void Viewer::open_given_kernel_file() {
  if (!film_) carry_out(ShowLab{LabTab::workshop});
  workshop_.open(options_.kernel_file);
  wait_for_workshop();
  if (stop_requested()) return;
  if (!film_) {
    follow_workshop();
    if (lockstep_ && view_.workshop.state == WorkshopState::unchecked) complain(why_not_shown(view_.workshop));
  } else if (const int status = kernel_file_status(); status == 2) {
    throw UsageError(why_not_shown(view_.workshop));
  } else if (status == 1) {
    throw std::runtime_error(why_not_shown(view_.workshop));
  }
}

/// Of a run that can be repeated: 0; 2 if --kernel-file has a kernel that does not compile or cannot run here; 1 if it
/// was not shown for another reason.
int Viewer::kernel_file_status() const {
  if (!lockstep_ || options_.kernel_file.empty() || given_kernel_shown_) return 0;
  const std::vector<WorkshopVersion>& versions = view_.workshop.versions;
  const bool failed = !versions.empty() && versions.back().compiles && !versions.back().unchecked;
  return failed ? 1 : 2;
}

/// In a run that can be repeated, the frame waits for the check.
void Viewer::wait_for_workshop() {
  constexpr std::chrono::milliseconds nap{2};
  while (lockstep_ && workshop_.busy() && !stop_requested()) {
    workshop_.answer(lane_.simulation());
    std::this_thread::sleep_for(nap);
  }
  take_up_version();
}

/// A kernel that was replaced waits for the end of a sweep or a lesson, but not the news of one that was prepared
/// before: the next one would overwrite it.
void Viewer::take_up_version() {
  if (const std::optional<PreparedKernel> prepared = lane_.simulation().take_prepared()) {
    if (const int version = workshop_.took(*prepared); version > 0) report_version(version);
  }
  if (view_.measuring()) return;
  workshop_.answer(lane_.simulation());
  if (const std::optional<SelectKernel> select = workshop_.tick(lane_.status(), view_.workshop)) {
    try {
      carry_out(Command{*select});
      if (!lane_.status().preparing) report_version(workshop_.took());
      workshop_.describe_running(lane_.status(), view_.workshop);
    } catch (const std::exception& error) {
      workshop_.refused(failure_text(error));
      (void)workshop_.tick(lane_.status(), view_.workshop);
    }
  }
  given_kernel_shown_ |= view_.workshop.running > 0 && view_.workshop.file == options_.kernel_file;
  workshop_.add_step_times(lane_.status(), view_.results, view_.workshop);
}

void Viewer::report_version(int number) {
  const WorkshopVersion& runs = view_.workshop.versions[static_cast<std::size_t>(number) - 1];
  say(fmt::format("version {} of {} runs: compiled in {:.0f} ms, checked in {:.1f} s{}{}", runs.number,
                  view_.workshop.file, runs.compile_ms, runs.check_s, runs.remark.empty() ? "" : ", ", runs.remark));
}

void Viewer::follow_workshop() {
  take_up_version();
  if (view_.measuring()) return;
  if (const std::string why = workshop_.take_rejection(view_.workshop); !why.empty()) complain(why);
}

}  // namespace orrery
