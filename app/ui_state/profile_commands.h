#pragma once

#include <limits>

#include "compute/sim/command.h"

namespace orrery {

/// Profiles the present kernel and settings in a process of their own, from the first state of the present scene.
struct ProfileKernel {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ProfileKernel>("profile", "Measures where the time of the present kernel goes.");
  }
};

/// Chooses the row of ProfileStatus::profiles, counted from 0, that the latest one is compared with.
struct CompareProfile {
  static constexpr int previous = std::numeric_limits<int>::min() / 2;  ///< the one before it

  int row = previous;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as users count them, from 1

  template <class = void>
  static constexpr auto describe() {
    return command_row<CompareProfile>("compare-profile", "Compares the latest profile with an earlier one.",
                                       Argument<&CompareProfile::row>{{.name = "row",
                                                                       .range = CompareProfile::rows,
                                                                       .word = "last",
                                                                       .word_number = CompareProfile::previous,
                                                                       .first = 1}});
  }
};

}  // namespace orrery
