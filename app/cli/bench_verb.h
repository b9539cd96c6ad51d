#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/measuring.h"
#include "app/cli/option_groups.h"
#include "app/cli/verb.h"

namespace orrery {

/// `orrery bench`: measures a sweep of kernels, settings and numbers of bodies, and compares it with earlier ones.
/// Settings that the device cannot run are listed as skipped. After a run-time failure, the other variants are still
/// measured, and the exit status is 1.
struct BenchVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SweepOptions sweep;
  ResultOptions results;
  std::vector<std::string> baseline_files;  ///< result files of earlier runs, to compare with
  std::optional<double> noise;              ///< see compare()
  bool card = false;                        ///< print kernel cards and fractions of the GPU's peak rates
};

}  // namespace orrery
