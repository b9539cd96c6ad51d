#pragma once

#include <span>
#include <string>

#include "app/text/csv.h"
#include "app/text/table.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// Results of an earlier benchmark.
struct Baseline {
  std::string file;
  Json whole;  ///< in the format of `bench --json`
};

/// Reads the JSON or CSV of a benchmark. Throws std::runtime_error with one line that names the file and the cause. A
/// file whose results have no step times is also an error.
Baseline read_baseline(const std::string& file);

/// Changes of a benchmark's entries relative to earlier runs.
struct Comparison {
  int faster = 0, slower = 0, unchanged = 0;
  int not_comparable = 0;  ///< entries that did other work than their counterparts, or where one has no interval
  Json json;               ///< all entries, earlier entries without a counterpart, and other differences

  /// Returns the comparison as text, with a table.
  std::string text(const KernelCatalog& kernels, const TextStyle& style) const;
};

/// Usual noise between runs, in per cent. An interval covers only the variation within one process. Between runs,
/// clocks and memory addresses also differ, and a GPU's clock changes in increments of about 1 %.
inline constexpr double usual_noise = 3;

/// Matches entries by kernel, settings, n, law, integrator and scene. If several runs have an entry, takes the hull of
/// their intervals and the median of their medians. An entry has changed if the old and new intervals do not overlap.
/// The medians must also differ by more than `noise` per cent of the smaller one.
/// Entries whose seed, dt, eta, digits, softening, repulsion, drag or protocol differ are not comparable. Neither are
/// entries without a valid interval. `before` is never empty.
Comparison compare(std::span<const Baseline> before, const Json& now, double noise);

}  // namespace orrery
