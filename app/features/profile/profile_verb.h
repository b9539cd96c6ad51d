#pragma once

#include <string>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/profile/kernel_profile.h"
#include "app/text/table.h"

namespace orrery {

/// `orrery profile`. Without hardware counters it prints why, with what is known, and the exit status is 0. Settings
/// that the device cannot run are listed as skipped; after a run-time failure everything else is profiled, and the exit
/// status is 1.
struct ProfileVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;
  int run_as_spare(const Program& program) const override;

  SceneOptions scene;
  KernelOptions kernels;
  PhysicsOptions physics;
  bool marks_only = false;    ///< marks one evaluation for another profiler, and reads no counters
  std::string baseline_file;  ///< JSON of an earlier profile to compare with; empty: none
  ResultOptions results;
  DeviceOptions device;
};

/// The text of one profile: its figures, and its stall reasons with a bar and a sentence for each. `before`: the
/// profile to compare with, or null.
std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style = {});

}  // namespace orrery
