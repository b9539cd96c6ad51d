#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"

namespace orrery {

/// `orrery race`: runs combinations of kernels, integrators and time steps to the same time and prints what each costs.
struct RaceVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SceneOptions scene;
  std::optional<double> until;  ///< the time at the end; given
  KernelOptions kernels;        ///< if none is named: this machine's default kernel
  std::vector<std::string> integrator_ids;
  std::vector<float> time_steps;  ///< empty: see RacePlan
  PhysicsOptions physics;
  ResultOptions results;
  DeviceOptions device;
};

}  // namespace orrery
