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

/// Returns the classes 0, 1, 2, 3-4, 5-8, ... up to the last non-empty one, and "not finite" if there are any.
Distribution distribution(const UlpHistogram& ulps);
/// Returns every class, from "integer part" and "1st decimal" to "none".
Distribution distribution(const WrongDigits& digits);

/// Returns "1: 20 (40%), 3-4: 30 (60%)": the non-empty classes; "-" if all are empty. A share that would round to 0 %
/// or 100 % is "<0.1%" or ">99.9%".
std::string to_text(const Distribution& distribution);
/// Returns "1:20 3-4:30" for a field of a CSV file. Blanks in names become '_'.
std::string to_csv(const Distribution& distribution);
/// Returns {"1": 20, "3-4": 30}: every class.
Json to_json(const Distribution& distribution);

}  // namespace orrery
