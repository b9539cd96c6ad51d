#pragma once

#include <stop_token>
#include <string>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Demands on a kernel that is to be chosen.
struct KernelDemand {
  int count = 0;  ///< bodies, >= 1
  LawId law = LawId::gravity;
  bool equal_masses = true;     ///< whether all masses are equal: some kernels then need less work
  double accuracy = 0;          ///< see SetAccuracy
  bool jerks = false;           ///< a kernel that gives jerks, see KernelInfo; otherwise one that gives none
  bool beside_drawing = false;  ///< a window draws during steps and during the measurement
  friend bool operator==(const KernelDemand&, const KernelDemand&) = default;
};

/// The bodies and the law of a demand: the errors of a tree depend on the positions.
struct ForceSystem {
  const Bodies& bodies;
  Law law;
};

/// The kernel that `auto_kernel` selects.
struct KernelChoice {
  KernelPtr kernel;
  Settings settings;
  std::string how;  ///< see AutoChoice
};

/// Returns "cuda-tiled bodies-per-thread=4": the kernel, and the settings that are not its initial ones.
inline std::string words_for(const KernelInfo& kernel, const Settings& settings) {
  const std::string changes = settings.changes();
  return kernel.id + (changes.empty() ? "" : ' ' + changes);
}

/// Returns "auto: cuda-tiled bodies-per-thread=4".
inline std::string name_of(const KernelChoice& choice) {
  return "auto: " + words_for(*choice.kernel, choice.settings);
}

/// Thrown by a measurement after a stop request. Not a std::exception: those are failures of a candidate.
struct Cancelled {};

/// Finds the fastest kernel and settings on this machine that meet the accuracy. Measuring takes some tenths of a
/// second, and longer if one evaluation does.
class KernelChooser {
 public:
  virtual ~KernelChooser() = default;
  /// `system` is the system that `demand` describes. Throws std::runtime_error if no kernel can run, and Cancelled soon
  /// after a stop request.
  virtual KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) = 0;
};

}  // namespace orrery
