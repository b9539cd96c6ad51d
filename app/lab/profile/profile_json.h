#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/profile/kernel_profile.h"
#include "app/text/csv.h"

namespace orrery {

Json profile_json(const KernelProfile& profile);
/// Reads what profile_json() wrote. What it does not know is left out. Throws std::runtime_error, one line.
KernelProfile profile_of(const Json& json);
/// The member "profiles" of a file of `orrery profile`. Throws as profile_of().
std::vector<KernelProfile> profiles_of(const Json& file);

inline constexpr std::array<std::string_view, 11> profile_columns{
    "kernel", "settings", "scene", "n", "device", "part", "kind", "name", "value", "unit", "change"};
/// One row for each number of a profile, as profile_columns names them. `before`: what it is compared with; null: with
/// nothing.
std::vector<std::vector<std::string>> profile_csv(const KernelProfile& profile, const KernelProfile* before);

}  // namespace orrery
