#pragma once

#include <span>
#include <string>

#include "app/lab/profile/kernel_profile.h"
#include "app/text/text_style.h"

namespace orrery {

/// One profile: its figures, and its stall reasons with a bar and a sentence for each. `before`: what it is compared
/// with; null: with nothing.
std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style = {});

/// A row for each profile; empty if there is only one.
std::string profiles_summary(std::span<const KernelProfile> profiles, const TextStyle& style = {});

}  // namespace orrery
