#pragma once

#include <span>
#include <string>

#include "app/text/csv.h"
#include "app/text/table.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// The results of an earlier benchmark.
struct Baseline {
  std::string file;
  Json whole;  ///< as `bench --json` writes it
};

/// Reads the JSON or the CSV of a benchmark. Throws std::runtime_error, one line that names the file and the cause,
/// also if no result has times of steps.
Baseline read_baseline(const std::string& file);

/// The changes of a benchmark's entries since older ones.
struct Comparison {
  int faster = 0, slower = 0, unchanged = 0;
  int not_comparable = 0;  ///< they did other work than their counterparts, or one of both has no interval
  Json json;               ///< each entry, those without a counterpart, and other differences

  /// The comparison as text, with a table.
  std::string text(const KernelCatalog& kernels, const TextStyle& style) const;
};

/// Usual noise, in per cent. An interval covers the variation within one process. From one run to the next, clocks and
/// memory addresses also differ, and a GPU's clock changes in increments of about 1 %.
inline constexpr double usual_noise = 3;

/// Matches entries by kernel, settings, n, law, integrator and scene. If several runs have an entry, its old interval
/// is the hull of theirs, and its old median the median of theirs. An entry has changed if the intervals do not overlap
/// and the medians differ by more than `noise` per cent of the smaller one. Entries whose seed, dt, softening,
/// repulsion, drag or protocol differ did other work and are not comparable; neither are those in which one of these or
/// of the times is missing or of another type. `before` is never empty.
Comparison compare(std::span<const Baseline> before, const Json& now, double noise);

}  // namespace orrery
