#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/features/profile/kernel_profile.h"
#include "app/features/profile/profile_commands.h"

namespace orrery {

/// The profiles that were taken in the window.
struct ProfileStatus {
  bool active = false;                           ///< one is being taken
  std::string present;                           ///< of which kernel with its settings
  std::vector<KernelProfile> profiles;           ///< oldest first, at most most_profiles
  int compared_with = CompareProfile::previous;  ///< a row, or `previous`
  double taken_s = 0;                            ///< from the request to the latest one
  std::string error;                             ///< why the latest one failed, one line; empty: it did not

  static constexpr std::size_t most_profiles = 64;

  const KernelProfile* latest() const { return profiles.empty() ? nullptr : &profiles.back(); }
  /// The profile that the latest one is compared with; null if there is none.
  const KernelProfile* baseline() const {
    if (profiles.size() < 2) return nullptr;
    const auto row =
        compared_with == CompareProfile::previous ? profiles.size() - 2 : static_cast<std::size_t>(compared_with);
    return row + 1 < profiles.size() ? &profiles[row] : nullptr;
  }
};

}  // namespace orrery
