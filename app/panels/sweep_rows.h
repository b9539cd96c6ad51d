#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/ui_state/status.h"

namespace orrery {

/// The variant to take at a number of bodies, and those that the measurement cannot tell from it.
struct BestRow {
  std::size_t row;
  std::vector<std::size_t> not_told_apart;  ///< in the order of their times
};
/// Of the rows that were measured with `count` bodies; nothing where there are none. Where several may be the fastest
/// it is the one of the fastest's kernel with the most settings as the kernel has them at first, then with the smaller
/// values.
std::optional<BestRow> best_row(std::span<const SweepRow> rows, int count, std::span<const KernelPtr> kernels);

/// The rows' indices in the order to show them: for each number of bodies the fastest first, and last what failed.
std::vector<std::size_t> fastest_first(std::span<const SweepRow> rows);

/// What sets row `index` apart from the others: "block 256", or the kernel's id before it where kernels differ.
std::string short_name(std::span<const SweepRow> rows, std::size_t index);

/// "1", or "2-4" with an en dash where other rows took no other time; empty where it was not measured.
std::string rank_words(const SweepRow& row);

}  // namespace orrery
