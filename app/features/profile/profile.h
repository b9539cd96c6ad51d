// Commands and window state of profiles.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "app/features/profile/kernel_profile.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Profiles the current kernel and settings in a separate process, from the first state of the current scene.
struct ProfileKernel {};

/// Chooses the profile with which the latest one is compared.
struct CompareProfile {
  static constexpr int previous = std::numeric_limits<int>::min() / 2;  ///< the profile before the latest

  int row = previous;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as users count rows, from 1
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

/// The profiles that were taken in the window.
struct ProfileStatus {
  bool active = false;                           ///< a profile is being taken
  std::string present;                           ///< kernel and settings of that profile
  std::vector<KernelProfile> profiles;           ///< oldest first, at most most_profiles
  int compared_with = CompareProfile::previous;  ///< row in `profiles`, or `previous`
  double taken_s = 0;                            ///< seconds from the request to the result of the latest profile
  std::string error;                             ///< one line: why the latest profile failed; empty: it did not

  static constexpr std::size_t most_profiles = 64;

  const KernelProfile* latest() const { return profiles.empty() ? nullptr : &profiles.back(); }
  /// Returns the profile with which the latest one is compared; null if there is none.
  const KernelProfile* baseline() const {
    if (profiles.size() < 2) return nullptr;
    const auto row =
        compared_with == CompareProfile::previous ? profiles.size() - 2 : static_cast<std::size_t>(compared_with);
    return row + 1 < profiles.size() ? &profiles[row] : nullptr;
  }
};

}  // namespace orrery
