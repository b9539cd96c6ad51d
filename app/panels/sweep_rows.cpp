#include "app/panels/sweep_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

bool measured(const SweepRow& row) {
  return row.problem.empty() && row.rank_first > 0;
}

bool has_another_value(const SweepRow& row, const std::string& name, const std::string& value) {
  const auto found = row.values.find(name);
  return found != row.values.end() && found->second != value;
}

}  // namespace

std::optional<BestRow> best_row(std::span<const SweepRow> rows, int count) {
  std::vector<std::size_t> first;  // those that may be the fastest of all
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].count == count && measured(rows[i]) && rows[i].rank_first == 1) first.push_back(i);
  }
  if (first.empty()) return std::nullopt;
  std::ranges::stable_sort(first, {}, [&](std::size_t i) { return rows[i].median_ms; });
  return BestRow{first.front(), {first.begin() + 1, first.end()}};
}

std::string short_name(std::span<const SweepRow> rows, std::size_t index) {
  const SweepRow& row = rows[index];
  const bool kernels = std::ranges::any_of(rows, [&](const SweepRow& r) { return r.kernel_id != row.kernel_id; });
  std::string name = kernels ? row.kernel_id : std::string{};
  for (const auto& [tunable, value] : row.values) {
    const bool differs = std::ranges::any_of(
        rows, [&](const SweepRow& r) { return r.kernel_id == row.kernel_id && has_another_value(r, tunable, value); });
    if (differs) name += fmt::format("{}{} {}", name.empty() ? "" : " ", tunable, value);
  }
  return name.empty() ? row.kernel_id : name;
}

std::string rank_words(const SweepRow& row) {
  if (!measured(row)) return {};
  return row.rank_first == row.rank_last ? fmt::format("{}", row.rank_first)
                                         : fmt::format("{}\u2013{}", row.rank_first, row.rank_last);
}

}  // namespace orrery
