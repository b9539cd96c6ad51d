#pragma once

#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/lab/force_promise.h"

namespace orrery {

/// `orrery verify`: checks kernels against double-precision sums. The exit status is 1 if a kernel misses its own
/// tolerance or fails.
struct VerifyVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SceneOptions scene;
  KernelOptions kernels;
  PhysicsOptions physics;                ///< constants of the law
  std::vector<LawId> laws;               ///< never empty
  bool each_value = false;               ///< check every value of every setting, one at a time, instead of axes
  int sample = ForceSample::usual_size;  ///< number of bodies whose forces are checked; largest int: all
  bool sample_only = false;              ///< evaluate only these bodies; kernels without target lists are skipped
  bool histogram = false;                ///< print distances in units in the last place
  bool digits = false;                   ///< run the published digit test
  ResultOptions results;
  DeviceOptions device;
};

}  // namespace orrery
