#pragma once

#include <stop_token>
#include <string>

#include "compute/core/bodies.h"
#include "compute/core/law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// Requirements for the kernel to choose.
struct KernelDemand {
  int count = 0;  ///< number of bodies, >= 1
  LawId law = LawId::gravity;
  bool equal_masses = true;     ///< whether all masses are equal: some kernels then need less work
  double accuracy = 0;          ///< see SetAccuracy
  bool jerks = false;           ///< true: the kernel must give jerks, see KernelInfo; false: it gives none
  bool beside_drawing = false;  ///< a window draws during steps and during the measurement
  friend bool operator==(const KernelDemand&, const KernelDemand&) = default;
};

/// The bodies and the law that a demand describes. The errors of a tree depend on the positions.
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

/// Returns the kernel and those settings that differ from its initial ones: "cuda-tiled bodies-per-thread=4".
inline std::string words_for(const KernelInfo& kernel, const Settings& settings) {
  const std::string changes = settings.changes();
  return kernel.id + (changes.empty() ? "" : ' ' + changes);
}

/// Returns the name of an automatic choice: "auto: cuda-tiled bodies-per-thread=4".
inline std::string name_of(const KernelChoice& choice) {
  return "auto: " + words_for(*choice.kernel, choice.settings);
}

/// Thrown by a measurement after a stop request. Not a std::exception, because that would mean a failed candidate.
struct Cancelled {};

/// Finds the fastest kernel and settings on this machine that meet the accuracy. Measuring takes some tenths of a
/// second, or longer if a single evaluation does.
class KernelChooser {
 public:
  virtual ~KernelChooser() = default;
  /// Returns the choice for `demand`, which describes `system`. Throws std::runtime_error if no kernel can run, and
  /// Cancelled soon after a stop request.
  virtual KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) = 0;
};

}  // namespace orrery
