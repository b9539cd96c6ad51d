#pragma once

#include <string>

#include "compute/core/force_law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What a kernel is wanted for.
struct KernelDemand {
  int count = 0;  ///< bodies, >= 1
  LawId law = LawId::gravity;
  bool equal_masses = true;  ///< of all bodies: some kernels then need less work
  friend bool operator==(const KernelDemand&, const KernelDemand&) = default;
};

/// What `auto_kernel` stands for at some demand.
struct KernelChoice {
  const KernelInfo* kernel;
  Settings settings;
  std::string how;  ///< see AutoChoice
};

/// "cuda-tiled bodies-per-thread=4": the kernel, and the settings that are not its initial ones.
inline std::string words_for(const KernelInfo& kernel, const Settings& settings) {
  const std::string changes = settings.changes();
  return kernel.id + (changes.empty() ? "" : ' ' + changes);
}

/// "auto: cuda-tiled bodies-per-thread=4".
inline std::string name_of(const KernelChoice& choice) {
  return "auto: " + words_for(*choice.kernel, choice.settings);
}

/// Finds the kernel and the settings that are the fastest here at full fp32 accuracy. It may measure, which takes some
/// tenths of a second.
class KernelChooser {
 public:
  virtual ~KernelChooser() = default;
  /// Throws std::runtime_error where no kernel can run.
  virtual KernelChoice choose(const KernelDemand& demand) = 0;
};

}  // namespace orrery
