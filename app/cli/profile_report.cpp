#include "app/cli/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/profile/kernel_profile.h"
#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

std::string stall_bar(double share) {
  constexpr double most = 30;
  return std::string(static_cast<std::size_t>(std::lround(most * std::clamp(share, 0.0, 1.0))), '#');
}

std::string figures_table(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  Table table{"lrrt", {"figure", "value", before ? "change" : "", "meaning"}, {"meaning"}};
  for (const ProfileFigure& figure : profile_figures()) {
    const double value = profile.figure(figure.id);
    if (!std::isfinite(value)) continue;
    table.add({figure.title, figure_text(figure, value),
               before ? change_text(figure_change(figure, *before, profile)) : "", figure.sentence});
  }
  return table.text(style);
}

std::string stalls_table(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  Table table{"lrrrl", {"why a warp waits", "warps", "share", before ? "change" : "", ""}, {""}};
  std::string sentences;
  for (const StallShare& share : stall_shares(profile)) {
    table.add({share.reason->title, fmt::format("{:.3f}", share.warps), share_text(share.share),
               before ? change_text(relative_change(before->stall(share.reason->id), share.warps)) : "",
               stall_bar(share.share)});
    if (share.share < small_share) continue;
    sentences +=
        paragraph(fmt::format("{}: {} {}", share.reason->title, share.reason->meaning, share.reason->remedy), style, 2);
  }
  return '\n' + paragraph("Warps in each state at each issued instruction, the most first.", style) +
         table.text(style) + sentences;
}

}  // namespace

std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  std::string title =
      fmt::format("{}, {} of {}, {}", profile.label(), counted_bodies(profile.count), profile.scene, profile.device);
  if (!profile.part.empty()) title += fmt::format("; counters of its longest part, the phase '{}'", profile.part);
  std::string text = '\n' + paragraph(title, style) + figures_table(profile, before, style);
  if (!profile.stalls.empty()) text += stalls_table(profile, before, style);
  if (before) {
    const std::string line = difference_line(*before, profile);
    if (!line.empty()) text += paragraph(fmt::format("Against {}: {}.", label_against(*before, profile), line), style);
  }
  if (!profile.problem.empty()) text += paragraph((profile.on_gpu ? "No counters: " : "") + profile.problem, style);
  if (!profile.missing.empty() && profile.passes > 0) {
    text += paragraph(fmt::format("This chip ({}) does not have: {}.", profile.chip, fmt::join(profile.missing, ", ")),
                      style);
  }
  return text;
}

std::string profiles_summary(std::span<const KernelProfile> profiles, const TextStyle& style) {
  if (profiles.size() < 2) return {};
  Table table{
      "lrrrrr",
      {"variant", "ms", "interactions/s", "waiting warps", "stalls against the first", "time against the first"}};
  const KernelProfile& first = profiles.front();
  for (const KernelProfile& profile : profiles) {
    table.add({profile.label(), significant(profile.figure("time_ms")),
               with_prefix(profile.figure("interactions_per_s")), significant(waiting_warps(profile), 3),
               change_text(relative_change(waiting_warps(first), waiting_warps(profile))),
               change_text(relative_change(first.figure("time_ms"), profile.figure("time_ms")))});
  }
  return '\n' + table.text(style);
}

}  // namespace orrery
