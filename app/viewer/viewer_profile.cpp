// How the viewer carries out requests that concern profiles.
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
}

void Viewer::report_profile() {
  if (!view_.profile.error.empty()) console::complain("no profile: " + view_.profile.error);
}

}  // namespace orrery
