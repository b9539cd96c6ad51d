#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "app/lab/tuning/candidates.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

/// cpu-simd with this value of its tunable `rows`: a candidate that every machine has.
inline Variant rows_variant(const char* rows) {
  const KernelPtr kernel = test::find_kernel("cpu-simd");
  Variant variant{kernel, Settings{*kernel}};
  variant.settings.set("rows", rows);
  return variant;
}

/// cpu-tree, but its accuracy is traded by `theta` alone, whose initial value is 0.7.
inline KernelPtr tree_by_theta() {
  static const std::vector<Tunable> tunables = [] {
    const auto all = test::find_kernel("cpu-tree")->tunables;
    std::vector<Tunable> changed{all.begin(), all.end()};
    for (Tunable& tunable : changed) {
      tunable.trades_accuracy = tunable.name == std::string_view{"theta"};
      if (tunable.trades_accuracy) tunable.initial = "0.7";
      if (tunable.name == std::string_view{"tolerance"}) tunable.initial = "off";
    }
    return changed;
  }();
  KernelInfo info = *test::find_kernel("cpu-tree");
  info.tunables = tunables;
  return std::make_shared<const KernelInfo>(info);
}

/// tree_by_theta() with this value of `theta`.
inline Variant tree_variant(const char* theta) {
  static const KernelPtr kernel = tree_by_theta();
  Variant variant{kernel, Settings{*kernel}};
  variant.settings.set("theta", theta);
  return variant;
}

/// A trial with these errors: a p99 of twice the median meets every accuracy that the median meets.
inline AccuracyTrial trial(double median_error, double step_ms) {
  return {.error = {.rms = median_error, .median = median_error, .p99 = 2 * median_error, .max = 3 * median_error},
          .step_ms = step_ms};
}

}  // namespace orrery::test
