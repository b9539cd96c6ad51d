#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/kernel_axes.h"
#include "app/lab/statistics.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"

namespace orrery {

/// How each variant is measured.
struct Procedure {
  int warmup_steps = 3;  ///< before measuring, >= 2: the first is discarded, the others say how many make a repeat
  int repeats = 10;      ///< >= 1
  int fresh_steps = 0;   ///< > 0: no warm-up; each repeat is this many steps from the scene's first state
};

/// What one kernel with its settings took for one system of bodies.
struct VariantResult {
  Status status{};  ///< of the simulation, once it was measured
  int steps_a_repeat = 0;
  std::vector<double> repeats_ms{};  ///< of one step, a value for each repeat, in their order
  Summary step_ms{};                 ///< of those
  /// machine_state() before its first step, while a batch in the middle of its measurements was under way, and after
  /// its last step; null for the CPU, and where no look fell into a batch.
  Json machine_before{}, machine_during{}, machine_after{};

  double interactions_per_s() const { return status.interactions_per_step / (step_ms.median / 1e3); }
  /// At 20 flop per interaction. NaN for a tree: its interactions with cells take more.
  double gflop_per_s() const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return status.kernel->is_tree ? none : interactions_per_s() * 20 / 1e9;
  }
  /// Of the accelerations at the scene's first state; NaN where they were not probed.
  ForceError error() const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return status.force_probe ? status.force_probe->error : ForceError{none, none, none, none};
  }
};

/// What became of one variant for one number of bodies.
struct SweepEntry {
  Variant variant;
  int count = 0;                        ///< as asked for until the scene is loaded
  std::optional<VariantResult> result;  ///< none: see problem
  std::string problem{};                ///< why it was not measured, one line
  bool refused = false;                 ///< the settings cannot be run here, as opposed to a failure

  /// "block=256 n=16384"
  std::string label() const {
    const std::string settings = variant.settings.to_string();
    return settings + (settings.empty() ? "n=" : " n=") + std::to_string(count);
  }
};

}  // namespace orrery
