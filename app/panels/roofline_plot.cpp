#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>

#include "app/panels/kit/format.h"
#include "app/panels/kit/plot_axis.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/profile_parts.h"

namespace orrery {
namespace {

using theme::em;

bool has_place(const KernelProfile& profile) {
  return profile.figure("flop_per_byte") > 0 && profile.figure("flop_per_s") > 0;
}

std::string power_of_ten(int exponent) {
  return exponent == 0 ? "1" : fmt::format("1e{}", exponent);
}

/// The latest of the profiles that know both peaks; null if none does.
const KernelProfile* with_peaks(const std::vector<KernelProfile>& profiles) {
  const auto found = std::find_if(profiles.rbegin(), profiles.rend(), [](const KernelProfile& profile) {
    return profile.figure("peak_flop_per_s") > 0 && profile.figure("peak_dram_per_s") > 0;
  });
  return found == profiles.rend() ? nullptr : &*found;
}

}  // namespace

void roofline_plot(const ProfileStatus& profiles, ImVec2 size) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const PlotArea area{{origin.x + em(2.6f), origin.y + em(1.2f)},
                      {origin.x + size.x - em(0.5f), origin.y + size.y - em(2.3f)}};
  ImGui::Dummy(size);
  ui_mark("profile.roofline");
  if (area.width() < em(4) || area.height() < em(3)) return;
  double least_x = DBL_MAX, most_x = 0, least_y = DBL_MAX, most_y = 0;
  const auto include = [&](double x, double y) {
    least_x = std::min(least_x, x);
    most_x = std::max(most_x, x);
    least_y = std::min(least_y, y);
    most_y = std::max(most_y, y);
  };
  for (const KernelProfile& profile : profiles.profiles) {
    if (has_place(profile)) include(profile.figure("flop_per_byte"), profile.figure("flop_per_s"));
  }
  const KernelProfile* const peaks = with_peaks(profiles.profiles);
  const double peak_flop = peaks ? peaks->figure("peak_flop_per_s") : 0;
  const double peak_bytes = peaks ? peaks->figure("peak_dram_per_s") : 0;
  if (peaks) include(peak_flop / peak_bytes, peak_flop);
  if (most_x <= 0) {
    small_text(area.at(0.02f, 0.6f), theme::dim, "No profile with counters yet.");
    return;
  }
  const DecadeAxis across = DecadeAxis::around(least_x, most_x), up = DecadeAxis::around(least_y, most_y);
  draw_decades_across(area, across, power_of_ten);
  draw_decades_up(area, up, power_of_ten);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  small_text({area.low.x, origin.y}, theme::dim, "flop/s in FP32");
  const std::string below = "flop per byte of DRAM traffic";
  small_text({area.high.x - small_width(below), area.high.y + em(1.15f)}, theme::dim, below);
  if (peaks) {
    // Both axes are logarithmic, so the memory's limit is a straight line up to the ridge.
    const double ridge = peak_flop / peak_bytes;
    const double begin = std::max(std::pow(10, across.low), std::pow(10, up.low) / peak_bytes);
    const ImVec2 roof[]{area.at(across.at(begin), up.at(begin * peak_bytes)),
                        area.at(across.at(ridge), up.at(peak_flop)), area.at(1, up.at(peak_flop))};
    draw.AddPolyline(roof, 3, theme::good, 0, em(0.1f));
  }
  for (const KernelProfile& profile : profiles.profiles) {
    if (!has_place(profile)) continue;
    const ImVec2 dot = area.at(across.at(profile.figure("flop_per_byte")), up.at(profile.figure("flop_per_s")));
    const bool latest = &profile == profiles.latest();
    draw.AddCircleFilled(dot, em(latest ? 0.36f : 0.26f),
                         latest ? ImU32{theme::accent} : theme::faded(theme::accent, 0.6f));
    if (latest) {
      const float width = small_width(profile.kernel_id);
      const float left = dot.x + em(0.5f) + width > area.high.x ? dot.x - em(0.5f) - width : dot.x + em(0.5f);
      small_text({left, dot.y + em(0.1f)}, theme::text, profile.kernel_id);
    }
    if (ImGui::IsWindowHovered() &&
        std::hypot(ImGui::GetMousePos().x - dot.x, ImGui::GetMousePos().y - dot.y) < em(0.5f)) {
      show_tooltip(profile.label(), counted_bodies(profile.count));
    }
  }
}

}  // namespace orrery
