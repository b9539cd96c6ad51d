#include "app/panels/sweep_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <iterator>
#include <numeric>
#include <tuple>

#include "app/panels/variant.h"

namespace orrery {
namespace {

bool measured(const SweepRow& row) {
  return row.problem.empty() && row.rank_first > 0;
}

bool has_another_value(const SweepRow& row, const std::string& name, const std::string& value) {
  const auto found = row.values.find(name);
  return found != row.values.end() && found->second != value;
}

/// A setting's value as a number, to compare; 0 for a word.
double magnitude_of(const std::string& value) {
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

/// The distance of a row from its kernel's initial settings. Among equally fast rows, the least is preferred.
struct Departure {
  bool other_kernel;          ///< than the fastest one's
  std::ptrdiff_t changed;     ///< settings that are not the kernel's initial ones
  std::vector<double> sizes;  ///< of their values
  friend auto operator<=>(const Departure&, const Departure&) = default;
};

Departure departure_of(const SweepRow& row, const SweepRow& fastest, std::span<const KernelPtr> kernels) {
  const KernelInfo* kernel = known_kernel(kernels, row.kernel_id);
  Departure departure{row.kernel_id != fastest.kernel_id, 0, {}};
  for (const auto& [name, value] : row.values) {
    const Tunable* tunable = kernel ? kernel->tunable(name) : nullptr;
    departure.changed += tunable && value != tunable->initial ? 1 : 0;
    departure.sizes.push_back(magnitude_of(value));
  }
  return departure;
}

}  // namespace

std::optional<BestRow> best_row(std::span<const SweepRow> rows, int count, std::span<const KernelPtr> kernels) {
  std::vector<std::size_t> first;  // the candidates for the fastest
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].count == count && measured(rows[i]) && rows[i].rank_first == 1) first.push_back(i);
  }
  if (first.empty()) return std::nullopt;
  std::ranges::stable_sort(first, {}, [&](std::size_t i) { return rows[i].median_ms; });
  const SweepRow& fastest = rows[first.front()];
  const auto best = std::ranges::min_element(first, [&](std::size_t a, std::size_t b) {
    return departure_of(rows[a], fastest, kernels) < departure_of(rows[b], fastest, kernels);
  });
  BestRow found{*best, {}};
  std::ranges::copy_if(first, std::back_inserter(found.within_noise), [&](std::size_t i) { return i != found.row; });
  return found;
}

std::vector<std::size_t> fastest_first(std::span<const SweepRow> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const auto of_count = std::ranges::find(rows, rows[i].count, &SweepRow::count) - rows.begin();
    return std::tuple{of_count, !measured(rows[i]), rows[i].median_ms};
  });
  return order;
}

std::string short_name(std::span<const SweepRow> rows, std::size_t index) {
  const SweepRow& row = rows[index];
  const bool kernels = std::ranges::any_of(rows, [&](const SweepRow& r) { return r.kernel_id != row.kernel_id; });
  std::string name = kernels ? row.kernel_id : std::string{};
  for (const auto& setting : row.values) {
    const auto& tunable = setting.first;
    const auto& value = setting.second;
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
