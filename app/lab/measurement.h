// One measurement of a variant, from the command line to panels and files.
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

/// Everything about a run except the state of its bodies. Only batches of the same trial are compared.
struct Trial {
  std::string kernel_id{}, settings{}, integrator_id{};
  int kernel_revision = 0;  ///< a kernel that was replaced is another one
  int kernel_version = 0;   ///< of a kernel file: the edit; 0: built in
  Law law{};
  float time_step = 0;
  std::optional<float> eta{};  ///< of block steps; none with other integrators
  Digits digits = Digits::single;
  SceneRequest scene{};
  int count = 0;
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// The trial that steps of `status` belong to.
Trial trial_of(const Status& status);

/// "leapfrog-blocks, eta 0.025", or "leapfrog, digits compensated"
std::string integrator_words(const Trial& trial);

/// "my-kernel v3" of a kernel file; else the id.
std::string kernel_words(const Trial& trial);

/// "cuda-tiled block=256, 16,384 bodies"; without the bodies if their number is 0.
std::string name_of(const Trial& trial);

/// "block=256 n=16384"
std::string label_of(const Trial& trial);

/// The run to return to for this trial, with its version of the kernel.
RunSetup run_of(const Trial& trial);

/// States of a machine during a measurement; see app/lab/metadata.h.
struct MachineStates;

/// The measurement of one variant with one system of bodies. If the variant was not measured, all numbers are NaN or
/// missing, and of the trial only the kernel, its settings and the count are known.
struct Measurement : Trial {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  KernelPtr kernel{};                ///< null: not known
  Settings::Values values{};         ///< the settings; Trial::settings is their text
  std::string chosen{};              ///< see Status::chosen
  std::vector<double> samples_ms{};  ///< time of one step in each sample, in ms, in their order
  int steps_per_sample = 0;
  std::int64_t steps = 0;                               ///< number of steps that were timed
  Summary step_ms{unknown, unknown, unknown, unknown};  ///< time of one step
  double interactions_per_s = unknown;
  std::optional<ForceError> error{};               ///< none: not compared with sums in double precision
  double end_time = 0;                             ///< simulated, after the last step
  std::optional<KernelCard> card{};                ///< of CUDA kernels
  std::vector<DeviceLoad> device_loads{};          ///< in the latest evaluation that was timed; empty with one device
  std::shared_ptr<const MachineStates> machine{};  ///< null: not known
  Rank rank{};                                     ///< among the measurements with the same count
  Problem problem{};                               ///< why the variant was not measured

  bool measured() const { return std::isfinite(step_ms.median); }
  /// Rate at flop_per_interaction. NaN for a tree: its interactions with cells take more.
  double gflop_per_s() const { return kernel->is_tree ? unknown : interactions_per_s * flop_per_interaction / 1e9; }
  /// The force errors; NaN if they were not measured.
  ForceError errors() const { return error.value_or(ForceError{unknown, unknown, unknown, unknown}); }
};

/// Returns the variant with its settings and this count, not measured yet.
Measurement planned(const Variant& variant, int count);

/// Returns the measurement of the variant that a simulation has just run, without the state of its machine.
/// `samples_ms` holds the time of one step in each sample.
Measurement measurement_of(const Status& status, std::vector<double> samples_ms);

/// Sets the ranks of these measurements among each other.
void rank(std::span<Measurement> measurements);

}  // namespace orrery
