#pragma once

#include <limits>
#include <tuple>

#include "compute/sim/command_row.h"

namespace orrery {

/// Profiles the current kernel and settings in a process of their own, from the first state of the current scene.
struct ProfileKernel {};

/// Chooses the row of ProfileStatus::profiles, counted from 0, that the latest one is compared with.
struct CompareProfile {
  static constexpr int previous = std::numeric_limits<int>::min() / 2;  ///< the one before it

  int row = previous;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as users count them, from 1
};

/// The commands of profiles.
inline constexpr std::tuple profile_commands{
    command_row<ProfileKernel>("profile", "Measures where the time of the present kernel goes."),
    command_row<CompareProfile>("compare-profile", "Compares the latest profile with an earlier one.",
                                Argument<&CompareProfile::row>{{.name = "row",
                                                                .range = CompareProfile::rows,
                                                                .word = "last",
                                                                .word_number = CompareProfile::previous,
                                                                .first = 1}})};

}  // namespace orrery
