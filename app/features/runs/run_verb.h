#pragma once

#include <optional>
#include <string>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/recording/run_checkpoint.h"

namespace orrery {

/// `orrery run`. The exit status is 0 at the end of the run, that of the signal if it was stopped.
struct RunVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SceneOptions scene;
  KernelOptions kernels;
  PhysicsOptions physics;     ///< its setup also selects the kernel
  Settings::Values settings;  ///< of the default kernel
  std::string resume;         ///< a checkpoint to continue; what is above is its own then
  RunOrder order;             ///< without what the two below say
  std::optional<std::string> snapshot_format;
  std::optional<double> checkpoint_every_s;
  Existing existing = Existing::keep;
  bool progress = false;
  DeviceOptions device;
};

}  // namespace orrery
