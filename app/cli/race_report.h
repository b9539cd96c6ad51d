#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/lab/race/race.h"
#include "app/text/csv.h"
#include "app/text/text_style.h"

namespace orrery {

inline constexpr std::array<std::string_view, 8> race_columns{"kernel", "settings", "integrator",   "dt",
                                                              "steps",  "seconds",  "energy_error", "problem"};

std::array<std::string, race_columns.size()> race_fields(const RaceResult& result);
Json race_json(const RaceResult& result);
/// The table, and the cheapest combination for each of some limits of the energy error.
std::string race_text(const std::vector<RaceResult>& results, const TextStyle& style);

}  // namespace orrery
