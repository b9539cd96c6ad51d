#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/ui_state/status.h"

namespace orrery {

/// The fastest variant at a number of bodies, and those that are within noise of it.
struct BestRow {
  std::size_t row;
  std::vector<std::size_t> within_noise;  ///< in the order of their times
};
/// Of the rows measured with `count` bodies; nothing if there are none. If several may be the fastest, prefers the
/// fastest's kernel, then the most initial settings, then the smaller values.
std::optional<BestRow> best_row(std::span<const SweepRow> rows, int count, std::span<const KernelPtr> kernels);

/// The rows' indices in the order to show them: for each number of bodies the fastest first, and last what failed.
std::vector<std::size_t> fastest_first(std::span<const SweepRow> rows);

/// What differs between row `index` and the others: "block 256", with the kernel's id before it if kernels differ.
std::string short_name(std::span<const SweepRow> rows, std::size_t index);

/// "1", or "2-4" with an en dash if other rows are within noise; empty if it was not measured.
std::string rank_words(const SweepRow& row);

}  // namespace orrery
