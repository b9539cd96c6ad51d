// Comparisons of two runs: their commands, and what the window shows of them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/features/compare/divergence.h"
#include "app/ui_state/command.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Runs the bodies a second time from their current state: B beside A, the run of the window. If A gets another kernel,
/// physics or bodies, the comparison begins again from there.
struct CompareWith {
  std::optional<std::string> kernel{};  ///< of B; none: ends the comparison
  Settings::Values settings{};          ///< a setting that is not named has its initial value
  std::string integrator{};             ///< empty: that of A
  std::optional<float> time_step{};     ///< none: that of A
  double nudge = 0;                     ///< moves each body of B by this length at the start

  static constexpr Range<double> nudges{0, 1e30, "in units of length"};
  friend bool operator==(const CompareWith&, const CompareWith&) = default;
};

/// Where the two runs are drawn.
enum class CompareLayout {
  side,  ///< A at the left, B at the right
  over   ///< both in one picture, in two colours
};

template <>
struct EnumWords<CompareLayout> {
  static constexpr std::array<std::pair<CompareLayout, std::string_view>, 2> all() {
    return {{{CompareLayout::side, "side"}, {CompareLayout::over, "over"}}};
  }
};

struct SetCompareLayout {
  CompareLayout layout = CompareLayout::side;
};

inline constexpr MachineUser comparison_user{
    "a comparison", "two runs are compared", "End in the tab Compare", "compare-with off", "Comparison", [] {
      return Request{CompareWith{}};
    }};

/// The commands that compare two runs of the same bodies.
inline constexpr std::tuple compare_commands{
    command_row<CompareWith>(
        "compare-with",
        "Runs the bodies a second time from their present state, with another kernel, integrator or time step.",
        Argument<&CompareWith::kernel>{{.name = "kernel", .word = "off"}},
        Argument<&CompareWith::settings>{{.name = "settings", .optional = true}},
        Argument<&CompareWith::integrator>{{.name = "integrator", .optional = true, .check = check_integrator}},
        Argument<&CompareWith::time_step>{{.name = "dt", .optional = true, .range = SetTimeStep::range}},
        Argument<&CompareWith::nudge>{{.name = "nudge", .optional = true, .range = CompareWith::nudges}}),
    command_row<SetCompareLayout>("compare-layout",
                                  "Draws the two runs side by side, or one over the other in two colours.",
                                  Argument<&SetCompareLayout::layout>{{.name = "layout"}})};

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
