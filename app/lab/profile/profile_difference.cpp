#include "app/lab/profile/profile_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "app/lab/profile/stall_reasons.h"
#include "compute/core/format_count.h"

namespace orrery {
namespace {

constexpr const char* all_stalls = "all stalls";

/// The source's terms, each once.
std::vector<std::string_view> source_terms() {
  std::vector<std::string_view> terms;
  for (const StallReason& reason : stall_reasons()) {
    const std::string_view term = reason.source_term;
    if (!term.empty() && std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
  }
  return terms;
}

void add_change(std::vector<ProfileChange>& changes, std::string id, std::string title, double before, double after) {
  if (std::isnan(before) && std::isnan(after)) return;
  changes.push_back({std::move(id), std::move(title), before, after, relative_change(before, after)});
}

}  // namespace

double relative_change(double before, double after) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(before) || !std::isfinite(after)) return unknown;
  if (before == after) return 0;
  return before == 0 ? unknown : (after - before) / before;
}

std::string change_text(double change) {
  if (!std::isfinite(change)) return "-";
  const std::string digits = fmt::format("{:.2f} %", 100 * std::abs(change));
  if (digits == "0.00 %") return digits;
  return (change < 0 ? "\u2212" : "+") + digits;
}

double figure_change(const ProfileFigure& figure, const KernelProfile& before, const KernelProfile& after) {
  if (figure.of_machine) return std::numeric_limits<double>::quiet_NaN();
  return relative_change(before.figure(figure.id), after.figure(figure.id));
}

std::vector<ProfileChange> profile_changes(const KernelProfile& before, const KernelProfile& after) {
  std::vector<ProfileChange> changes;
  add_change(changes, "stalls", all_stalls, waiting_warps(before), waiting_warps(after));
  for (const std::string_view term : source_terms()) {
    add_change(changes, "stalls." + std::string{term}, std::string{term}, waiting_warps(before, term),
               waiting_warps(after, term));
  }
  for (const StallReason& reason : stall_reasons()) {
    add_change(changes, std::string{"stall."} + reason.id, reason.title, before.stall(reason.id),
               after.stall(reason.id));
  }
  for (const ProfileFigure& figure : profile_figures()) {
    if (figure.of_machine) continue;
    add_change(changes, figure.id, figure.title, before.figure(figure.id), after.figure(figure.id));
  }
  return changes;
}

std::string label_against(const KernelProfile& before, const KernelProfile& after) {
  const bool same_law = before.law.empty() || before.law == after.law;  // empty: of an older version
  if (before.scene == after.scene && before.count == after.count && same_law) return before.label();
  return fmt::format("{} ({}, {} bodies{}{})", before.label(), before.scene, format_count(before.count),
                     before.law.empty() ? "" : ", ", before.law);
}

std::string difference_line(const KernelProfile& before, const KernelProfile& after) {
  constexpr std::array<std::string_view, 4> named{"stalls", "stalls.execution dependency", "stalls.memory dependency",
                                                  "time_ms"};
  std::string line;
  for (const ProfileChange& change : profile_changes(before, after)) {
    if (!std::isfinite(change.change) || std::ranges::find(named, change.id) == named.end()) continue;
    line += (line.empty() ? "" : ", ") + change.title + ' ' + change_text(change.change);
  }
  return line;
}

}  // namespace orrery
