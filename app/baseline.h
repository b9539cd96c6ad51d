#pragma once

#include <string>

#include "app/recording/csv.h"

namespace orrery {

/// What became of a benchmark's entries since an older one.
struct Comparison {
  int faster = 0, slower = 0, unchanged = 0;
  int not_comparable = 0;  ///< counterparts of which one has no interval
  std::string text;        ///< for a terminal: each entry, what has no counterpart, what else differs
};

/// Reads the JSON file of an earlier benchmark. Throws std::runtime_error, one line that names the file and the cause.
Json read_baseline(const std::string& file);

/// Matches entries by kernel, settings, n, law, integrator and scene. Changed is what has intervals that do not
/// overlap. `before` is called `name` in the text; members that it lacks, or that are of another type, make an entry
/// that is not comparable.
Comparison compare(const Json& before, const Json& now, const std::string& name);

}  // namespace orrery
