#pragma once

#include <stop_token>
#include <string>

#include "compute/core/bodies.h"
#include "compute/core/force_law.h"
#include "compute/kernels/kernel.h"

namespace orrery {

/// What a kernel is wanted for.
struct KernelDemand {
  int count = 0;  ///< bodies, >= 1
  LawId law = LawId::gravity;
  bool equal_masses = true;     ///< of all bodies: some kernels then need less work
  double accuracy = 0;          ///< see SetAccuracy
  bool beside_drawing = false;  ///< it will run while a window is drawn, and is measured so
  friend bool operator==(const KernelDemand&, const KernelDemand&) = default;
};

/// What a kernel is to be accurate for: the errors of a tree depend on where the bodies are.
struct ForceSystem {
  const Bodies& bodies;
  Law law;
};

/// What `auto_kernel` stands for at some demand.
struct KernelChoice {
  KernelPtr kernel;
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

/// Thrown out of a choice that nobody waits for any more. No std::exception: those are a contender's failures.
struct ChoiceAbandoned {};

/// Finds the kernel and the settings that are the fastest here of those that are accurate enough. It may measure, which
/// takes some tenths of a second, and longer where one evaluation does.
class KernelChooser {
 public:
  virtual ~KernelChooser() = default;
  /// `system` is what `demand` is about. Throws std::runtime_error where no kernel can run, and ChoiceAbandoned soon
  /// after `stop` was requested.
  virtual KernelChoice choose(const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) = 0;
};

}  // namespace orrery
