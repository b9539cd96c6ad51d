#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/kernel_axes.h"
#include "app/lab/problem.h"
#include "app/lab/statistics.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

/// The measurement of one kernel with its settings and one system of bodies.
struct VariantResult {
  Status status{};  ///< of the simulation, after the measurement
  int steps_per_sample = 0;
  std::vector<double> samples_ms{};  ///< the time of one step in each sample, in ms, in their order
  Summary step_ms{};                 ///< of the samples
  /// machine_state() before the first step, during a sample in the second half, and after the last step; null for the
  /// CPU, and if no sample was in flight when the state was read.
  Json machine_before{}, machine_during{}, machine_after{};

  double interactions_per_s() const { return status.interactions_per_step / (step_ms.median / 1e3); }
  /// NaN for a tree: its interactions with cells take more than flop_per_interaction.
  double gflop_per_s() const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return status.kernel->is_tree ? none : interactions_per_s() * flop_per_interaction / 1e9;
  }
  /// Of the accelerations at the scene's first state; NaN if they were not probed.
  ForceError error() const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return status.force_probe ? status.force_probe->error : ForceError{none, none, none, none};
  }
};

/// One variant with one number of bodies.
struct SweepEntry {
  Variant variant;
  int count = 0;                        ///< the requested one until the scene is loaded
  std::optional<VariantResult> result;  ///< none: see problem
  Problem problem{};

  /// "block=256 n=16384"
  std::string label() const {
    const std::string settings = variant.settings.to_string();
    return settings + (settings.empty() ? "n=" : " n=") + std::to_string(count);
  }
};

}  // namespace orrery
