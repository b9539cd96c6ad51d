#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compute/sim/command.h"

namespace orrery {

// Commands that compare two runs of the same bodies.

/// Runs the bodies a second time from their present state: B beside A, the run of the window. If A gets another kernel,
/// physics or bodies, the comparison begins anew from there.
struct CompareWith {
  std::optional<std::string> kernel{};  ///< of B; none: ends the comparison
  Settings::Values settings{};          ///< a setting that is not named has its initial value
  std::string integrator{};             ///< empty: that of A
  std::optional<float> time_step{};     ///< none: that of A
  double nudge = 0;                     ///< moves each body of B by this length at the start

  static constexpr Range<double> nudges{0, 1e30, "in units of length"};
  friend bool operator==(const CompareWith&, const CompareWith&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<CompareWith>(
        "compare-with",
        "Runs the bodies a second time from their present state, with another kernel, integrator or time step.",
        Argument<&CompareWith::kernel>{{.name = "kernel", .word = "off"}},
        Argument<&CompareWith::settings>{{.name = "settings", .optional = true}},
        Argument<&CompareWith::integrator>{{.name = "integrator", .optional = true, .check = check_integrator}},
        Argument<&CompareWith::time_step>{{.name = "dt", .optional = true, .range = SetTimeStep::range}},
        Argument<&CompareWith::nudge>{{.name = "nudge", .optional = true, .range = CompareWith::nudges}});
  }
};

/// Where the two runs are drawn.
enum class CompareLayout {
  side,  ///< A at the left, B at the right
  over   ///< both in one picture, in two colours
};

struct SetCompareLayout {
  CompareLayout layout = CompareLayout::side;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetCompareLayout>("compare-layout",
                                         "Draws the two runs side by side, or one over the other in two colours.",
                                         Argument<&SetCompareLayout::layout>{{.name = "layout"}});
  }
};

template <>
struct EnumWords<CompareLayout> {
  static constexpr std::array<std::pair<CompareLayout, std::string_view>, 2> all() {
    return {{{CompareLayout::side, "side"}, {CompareLayout::over, "over"}}};
  }
};

}  // namespace orrery
