#pragma once

#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/lab/force_promise.h"

namespace orrery {

/// `orrery verify`: checks kernels against sums in double precision. The exit status is 1 if a kernel misses its own
/// tolerance or fails.
struct VerifyVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SceneOptions scene;
  KernelOptions kernels;
  PhysicsOptions physics;                ///< constants of the law
  std::vector<LawId> laws;               ///< never empty
  bool each_value = false;               ///< every value of every setting, one after the other; no axes
  int sample = ForceSample::usual_size;  ///< bodies whose forces are checked; the largest int stands for all
  bool sample_only = false;              ///< evaluate these bodies alone; kernels that take no targets are skipped
  bool histogram = false;                ///< print distances in units in the last place
  bool digits = false;                   ///< make the source's digit test
  ResultOptions results;
  DeviceOptions device;
};

}  // namespace orrery
