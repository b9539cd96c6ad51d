// How the viewer carries out requests that concern profiles.
#include <optional>

#include "app/text/console.h"
#include "app/viewer/viewer.h"

namespace orrery {

/// In a run that can be repeated, the frame waits for the profile.
void Viewer::carry_out(const ProfileKernel&) {
  profile_.start(lane_.status(), backends_.device_ordinal(), view_.profile);
  if (!lockstep_) return;
  profile_.finish(view_.profile);
  report_profile();
}

void Viewer::carry_out(const CompareProfile& c) {
  ProfileControl::compare(c, view_.profile);
}

void Viewer::follow_profile() {
  if (profile_.tick(view_.profile)) report_profile();
  const std::optional<int> device = backends_.device_ordinal();
  const Status& shown = lane_.status();
  const bool is_seen = view_.panel && panel_state_.lab.tab == LabTab::profile && !lockstep_;
  const bool measures = view_.measuring() || shown.choosing;
  if (is_seen && !measures && device && shown.kernel && shown.kernel->backend == Backend::cuda) {
    profile_.prepare(*device);
  } else {
    profile_.drop_spare();
  }
}

void Viewer::report_profile() {
  const ProfileStatus& profile = view_.profile;
  if (!profile.error.empty()) {
    console::complain("no profile: " + profile.error);
  } else {
    console::print("profile of {}: taken in {:.2f} s\n", profile.present, profile.taken_s);
  }
}

}  // namespace orrery
