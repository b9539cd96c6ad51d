#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "compute/cuda/arrays.h"

namespace orrery {

/// Finds out for how many evaluations a tree may keep its cells while bodies move. Cells that have aged are large, and
/// walks open more of them. The age of cells is the number of evaluations since their bodies were sorted. The GPU notes
/// the interactions at each age; the host looks at them without waiting, so they are those of some sorts ago.
class CellAging {
 public:
  explicit CellAging(const cuda::Device& device) : noted_{device, ages, /*pinned=*/true} { forget(); }

  /// For other bodies.
  void forget() {
    for (std::uint64_t& each : noted_.first(ages)) std::atomic_ref{each}.store(0, std::memory_order_relaxed);
  }
  /// Where the GPU notes the interactions of an evaluation with cells of this age.
  std::uint64_t* note(int age) const { return &noted_.first(ages)[index(age)]; }
  /// Whether to sort again rather than to evaluate with cells of this age. After that, they are forgiven a little, so
  /// that this age is tried again some time.
  bool too_old(int age) {
    const double fresh = interactions(0), aged = interactions(age);
    if (fresh == 0 || aged <= allowed_growth * fresh) return false;
    std::atomic_ref{*note(age)}.store(static_cast<std::uint64_t>(aged * forgiven), std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr int ages = 32;  // the last one stands for all that follow
  /// A walk with so many more interactions takes about as much longer as a sort takes.
  static constexpr double allowed_growth = 1.25;
  /// Cells that had 10 times the interactions are tried again after 265 sorts.
  static constexpr double forgiven = 1 - 1.0 / 128;

  static std::size_t index(int age) { return static_cast<std::size_t>(std::min(age, ages - 1)); }
  double interactions(int age) const {
    return static_cast<double>(std::atomic_ref{*note(age)}.load(std::memory_order_relaxed));
  }

  cuda::HostArray<std::uint64_t> noted_;  // by age; 0: not known
};

/// When a tree sorts its bodies, and when it keeps the cells of the evaluation before.
class SortPeriod {
 public:
  /// At most `longest` evaluations from one sort to the next.
  SortPeriod(const cuda::Device& device, int longest) : aging_{device}, longest_{longest} {}

  /// For other bodies.
  void forget() {
    since_sort_ = 0;
    aging_.forget();
  }
  /// Begins an evaluation, of all bodies or of targets. Returns whether it keeps the cells.
  bool keeps_cells(bool of_all) {
    // Few targets say nothing about the walks of all.
    const bool keeps = since_sort_ > 0 && (!of_all || !aging_.too_old(since_sort_));
    age_ = keeps ? since_sort_ : 0;
    since_sort_ = (age_ + 1) % longest_;
    return keeps;
  }
  /// Where the GPU notes the interactions of this evaluation, if it is of all bodies.
  std::uint64_t* note() const { return aging_.note(age_); }

 private:
  CellAging aging_;
  int longest_;
  int since_sort_ = 0;
  int age_ = 0;  // of the cells in the present evaluation
};

}  // namespace orrery
