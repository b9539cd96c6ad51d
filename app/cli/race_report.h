#pragma once

#include <string>
#include <vector>

#include "app/lab/race/race.h"
#include "app/text/text_style.h"

namespace orrery {

/// The table, and the cheapest combination for each of some limits of the energy error.
std::string race_text(const std::vector<RaceResult>& results, const TextStyle& style);

}  // namespace orrery
