#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/compare/paired_run.h"

namespace orrery {

/// `orrery compare`: runs two variants from the same bodies and prints how they diverge. Throws std::runtime_error
/// after it has printed what was measured.
struct CompareVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SceneOptions scene;
  KernelOptions kernels;                              ///< kernel files, and the accuracy of `auto`
  std::array<std::optional<RunVariant>, 2> variants;  ///< A and B; both are given
  PhysicsOptions physics;                             ///< of both
  std::int64_t steps = 1000;                          ///< of the run with the longer time step
  std::optional<std::int64_t> every;                  ///< of these steps between two samples
  std::optional<bool> energy;                         ///< measure it; none: as PairPlan has it
  ResultOptions results;
  DeviceOptions device;
};

}  // namespace orrery
