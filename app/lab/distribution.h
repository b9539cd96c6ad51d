#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/text/csv.h"
#include "compute/diagnostics/reference.h"

namespace orrery {

/// Counts in named classes, in the order of the classes.
struct Distribution {
  struct Class {
    std::string name;
    std::int64_t count;
  };
  std::vector<Class> classes;
};

/// The classes 0, 1, 2, 3-4, 5-8, ... up to the last that is not empty, and "not finite" if there are any.
Distribution distribution(const UlpHistogram& ulps);
/// Every class, from "integer part" and "1st decimal" to "none".
Distribution distribution(const WrongDigits& digits);

/// "1: 20 (40%), 3-4: 30 (60%)": the classes that are not empty; "-" if all are. A share that would round to
/// 0 % or 100 % is "<0.1%" or ">99.9%".
std::string to_text(const Distribution& distribution);
/// "1:20 3-4:30" with '_' for blanks in names, for a field of a CSV file.
std::string to_csv(const Distribution& distribution);
/// {"1": 20, "3-4": 30}: every class.
Json to_json(const Distribution& distribution);

}  // namespace orrery
