#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/ui_state/machine_user.h"
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

}  // namespace orrery
