#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/features/compare/compare_commands.h"
#include "app/features/compare/divergence.h"

namespace orrery {

/// One of the two runs that are compared.
struct ComparedRun {
  std::string name;    ///< "cpu-tree theta=0.5 euler": what differs from initial values, and from the other run
  double step_ms = 0;  ///< median time of a step of this comparison; 0: not known yet
  double interactions_per_s = 0;  ///< 0: not known yet
};

/// The comparison of two runs.
struct CompareStatus {
  bool active = false;
  CompareLayout layout = CompareLayout::side;
  CompareWith with;                       ///< B, as it was asked for
  std::array<ComparedRun, 2> runs;        ///< A and B
  double begin_time = 0;                  ///< simulated, when both had the same state
  double time = 0;                        ///< since then
  double size = 0;                        ///< of the system then, see median_radius()
  std::vector<DivergenceSample> samples;  ///< oldest first, at most 512
  Growth growth;                          ///< of the median distance in them
  /// Side by side: where the line between the two is, in shares of the window's width, and where the part for A begins.
  float split = 0.5f, left = 0;
};

/// The second run of a comparison that the user is choosing.
struct CompareDraft {
  CompareWith running{};         ///< the one that the texts were made from
  std::string kernel, settings;  ///< empty: as in the first run; settings as typed: "theta=0.5 leaf=8"
  std::string integrator;        ///< empty: likewise
  double time_step_factor = 1;   ///< of the first run's time step
  std::optional<double> nudge;   ///< see CompareWith; none: a small one if B does not differ from A in anything else
};

}  // namespace orrery
