// Commands and window state of a comparison of two runs.
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

/// Starts run B from the current bodies of run A, the run of the window, and compares the two. If A gets another
/// kernel, physics or bodies, the comparison begins again from A's current state.
struct CompareWith {
  std::optional<std::string> kernel{};  ///< kernel of B; none: ends the comparison
  Settings::Values settings{};          ///< settings of B's kernel; a setting that is not named has its initial value
  std::string integrator{};             ///< integrator of B; empty: the integrator of A
  std::optional<float> time_step{};     ///< time step of B; none: the time step of A
  double nudge = 0;                     ///< moves each body of B by this length at the start

  static constexpr Range<double> nudges{0, 1e30, "in units of length"};
  friend bool operator==(const CompareWith&, const CompareWith&) = default;
};

/// Layout of the two runs in the window.
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
  std::string name;               ///< kernel and changed settings; integrator and time step if those of A and B differ
  double step_ms = 0;             ///< median time per step since the comparison began; 0: not known yet
  double interactions_per_s = 0;  ///< 0: not known yet
};

/// State of the comparison that the window shows.
struct CompareStatus {
  bool active = false;
  CompareLayout layout = CompareLayout::side;
  CompareWith with;                       ///< the command that started B
  std::array<ComparedRun, 2> runs;        ///< A and B, in this order
  double begin_time = 0;                  ///< simulated time at which both had the same state
  double time = 0;                        ///< simulated time since then, at the latest sample
  double size = 0;                        ///< size of the system at the start, see median_radius()
  std::vector<DivergenceSample> samples;  ///< oldest first, at most 512
  Growth growth;                          ///< growth of the samples' median distance
  /// Line between A and B, and left end of A's part, in fractions of the window's width. Only for CompareLayout::side.
  float split = 0.5f, left = 0;
};

/// The user's entries in the tab Compare for the next comparison.
struct CompareDraft {
  CompareWith running{};         ///< comparison from which the entries below were made
  std::string kernel, settings;  ///< kernel: empty means A's kernel; settings: as typed, "theta=0.5 leaf=8"
  std::string integrator;        ///< empty: the integrator of A
  double time_step_factor = 1;   ///< B's time step divided by A's
  std::optional<double> nudge;   ///< see CompareWith; none: a small nudge if nothing else differs between B and A
};

}  // namespace orrery
