// How the viewer measures beside its picture: sweeps and races, a part of Viewer.
#include <fmt/format.h>

#include "app/viewer/next_kernel.h"
#include "app/viewer/viewer.h"
#include "compute/core/error.h"

namespace orrery {

void Viewer::refuse_beside_measurement() const {
  if (const MachineUser* const other = view_.measurer()) {
    throw UsageError(fmt::format("{} and needs the machine for itself; wait for its end or stop it first ({})",
                                 other->state, way_to_end(*other)));
  }
}

/// In the words of those who read it: a script has no buttons.
const char* Viewer::way_to_end(const MachineUser& user) const {
  return lockstep_ ? user.command : user.button;
}

void Viewer::require_machine(const char* user) const {
  refuse_beside_measurement();
  refuse_while_comparing(fmt::format("{} needs the machine for itself", user));
}

void Viewer::follow_measurements() {
  const bool swept = sweep_.tick(lane_.simulation(), view_.sweep);
  take_swept();
  if (swept) report_files(view_.sweep.files, view_.sweep.error);
  if (race_.tick(lane_.simulation(), view_.race)) report_files(view_.race.files, view_.race.error);
  lessons_.tick(lane_.simulation(), view_.lesson);
  if (panel_state_.lab.tab == LabTab::race) {  // which alone reads them
    view_.evaluation_s = evaluation_times(view_.kernels, lane_.status(), view_.results);
  }
  if (!view_.jerk_kernel) view_.jerk_kernel = backends_.default_kernel(/*jerks=*/true);
}

/// Adds new rows of the sweep to the results.
void Viewer::take_swept() {
  for (; swept_taken_ < view_.sweep.rows.size(); ++swept_taken_) {
    lane_.log().statistics().add_swept(view_.sweep.rows[swept_taken_]);
  }
}

void Viewer::report_files(const std::vector<std::string>& files, const std::string& error) {
  for (const std::string& file : files) say_written(file);
  if (error.empty()) return;
  failed_ = true;
  complain(error);
}

void Viewer::carry_out(const StartSweep& c) {
  require_machine("a sweep");
  sweep_.start(c, lane_.simulation(), view_.sweep);
  swept_taken_ = 0;
}

void Viewer::carry_out(const StopSweep&) {
  if (!sweep_.stop(lane_.simulation(), view_.sweep)) return;
  take_swept();
  report_files(view_.sweep.files, view_.sweep.error);
}

void Viewer::carry_out(const StartRace& c) {
  require_machine("a race");
  race_.start(c, lane_.simulation(), view_.race);
}

void Viewer::carry_out(const StopRace&) {
  if (race_.stop(lane_.simulation(), view_.race)) report_files(view_.race.files, view_.race.error);
}

}  // namespace orrery
