#pragma once

#include <string>
#include <vector>

#include "app/lab/profile/kernel_profile.h"
#include "app/lab/profile/profile_figures.h"

namespace orrery {

/// (after - before) / before. 0 if both are 0; NaN if only `before` is 0, or one is not finite.
double relative_change(double before, double after);
/// "−37.85 %" with a real minus sign; "-" if it is NaN.
std::string change_text(double change);

/// That of a figure; NaN if it is the machine's: two measurements of one limit differ by chance.
double figure_change(const ProfileFigure& figure, const KernelProfile& before, const KernelProfile& after);

/// One number of two profiles.
struct ProfileChange {
  std::string id, title;
  double before = 0, after = 0;  ///< in the figure's unit, or warps; NaN: not known
  double change = 0;             ///< see relative_change()
};

/// All stalls together, the source's terms, every reason, and every figure that one of the two has but the machine's,
/// in this order.
std::vector<ProfileChange> profile_changes(const KernelProfile& before, const KernelProfile& after);

/// "cuda-tiled block=256", with the scene, bodies and law of `before` if those of `after` are others: "cuda-tiled
/// (plummer, 4,096 bodies, gravity, softening 0.05)".
std::string label_against(const KernelProfile& before, const KernelProfile& after);

/// "All stalls −37.85 %, execution dependency −12.10 %, time of an evaluation −20.00 %"; empty if nothing of it is
/// known.
std::string difference_line(const KernelProfile& before, const KernelProfile& after);

}  // namespace orrery
