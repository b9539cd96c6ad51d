#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/lab/race/race.h"
#include "app/text/csv.h"

namespace orrery {

inline constexpr std::array<std::string_view, 10> race_columns{"kernel",       "settings",    "integrator",   "dt",
                                                               "steps",        "evaluations", "interactions", "seconds",
                                                               "energy_error", "problem"};

std::array<std::string, race_columns.size()> race_fields(const RaceResult& result);
Json race_json(const RaceResult& result);
/// What a race's files begin with: the machine, the bodies and the law, without what the race varies.
Json race_metadata(const Backends& backends, const Race& race);
/// The contents of the JSON file.
Json race_json(const Race& race, const Json& metadata);

}  // namespace orrery
