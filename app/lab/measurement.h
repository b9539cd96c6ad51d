// One measurement of a variant, as commands, panels and files use it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/statistics.h"
#include "app/lab/variants.h"
#include "compute/core/text.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/command.h"

namespace orrery {

/// Everything about a run except the state of its bodies. Only batches of equal trials are compared.
struct Trial {
  std::string kernel_id{}, settings{}, integrator_id{};
  int kernel_revision = 0;  ///< revision in the catalog: a replaced kernel is a different one
  int kernel_version = 0;   ///< version of a kernel file, counted by its edits; 0: built-in kernel
  Law law{};
  float time_step = 0;
  std::optional<float> eta{};  ///< accuracy of block time steps; none with other integrators
  Digits digits = Digits::single;
  SceneRequest scene{};
  int count = 0;
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// Returns the trial to which the steps of `status` belong.
Trial trial_of(const Status& status);

/// Returns "leapfrog-blocks, eta 0.025", or "leapfrog, digits compensated".
std::string integrator_words(const Trial& trial);

/// Returns "my-kernel v3" for a kernel file, else the id.
std::string kernel_words(const Trial& trial);

/// Returns "cuda-tiled block=256, 16,384 bodies", or only the variant if the number of bodies is 0.
std::string name_of(const Trial& trial);

/// Returns "block=256 n=16384".
std::string label_of(const Trial& trial);

/// Returns the run to return to for this trial, with its version of the kernel.
RunSetup run_of(const Trial& trial);

/// States of the machine during a measurement; see app/lab/metadata.h.
struct MachineStates;

/// Measurement of one variant with one system of bodies. If it was not measured, all numbers are NaN or missing; only
/// the kernel, its settings and the count are known.
struct Measurement : Trial {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  KernelPtr kernel{};                ///< null: not known
  Settings::Values values{};         ///< the settings; Trial::settings is their text
  std::string chosen{};              ///< see Status::chosen
  std::vector<double> samples_ms{};  ///< time per step of each sample, in ms, in the order of measurement
  int steps_per_sample = 0;
  std::int64_t steps = 0;                               ///< number of timed steps
  Summary step_ms{unknown, unknown, unknown, unknown};  ///< time per step, in ms
  double interactions_per_s = unknown;
  std::optional<ForceError> error{};               ///< none: not compared with double-precision sums
  double end_time = 0;                             ///< simulated time after the last step
  std::optional<KernelCard> card{};                ///< CUDA kernels only
  std::vector<DeviceLoad> device_loads{};          ///< loads in the latest timed evaluation; empty with one device
  std::shared_ptr<const MachineStates> machine{};  ///< null: not known
  Rank rank{};                                     ///< among the measurements with the same count
  Problem problem{};                               ///< why the variant was not measured

  bool measured() const { return std::isfinite(step_ms.median); }
  /// Returns the rate at flop_per_interaction; NaN for a tree, whose interactions with cells need more operations.
  double gflop_per_s() const { return kernel->is_tree ? unknown : interactions_per_s * flop_per_interaction / 1e9; }
  /// Returns the force errors; NaN if they were not measured.
  ForceError errors() const { return error.value_or(ForceError{unknown, unknown, unknown, unknown}); }
};

/// Returns the variant with its settings and this count, not yet measured.
Measurement planned(const Variant& variant, int count);

/// Returns the measurement of the variant that a simulation has just run, without the machine's state. `samples_ms`
/// holds the time per step of each sample, in ms.
Measurement measurement_of(const Status& status, std::vector<double> samples_ms);

/// Ranks these measurements against each other.
void rank(std::span<Measurement> measurements);

}  // namespace orrery
