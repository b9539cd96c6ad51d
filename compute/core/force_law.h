#pragma once

#include <span>
#include <string_view>

#include "compute/core/law.h"

namespace orrery {

/// A pair law's name and what it says, for the command line and the panel.
struct LawInfo {
  LawId law;
  const char* id;
  const char* title;
  const char* notes;
};
std::span<const LawInfo> laws();
const LawInfo& law_info(LawId law);
/// Throws UsageError that lists the known ids.
LawId find_law(std::string_view id);

}  // namespace orrery
