#pragma once

#include <span>
#include <string>

#include "app/text/csv.h"
#include "app/text/text_style.h"
#include "compute/kernels/catalog.h"

namespace orrery {

/// The JSON file of an earlier benchmark.
struct Baseline {
  std::string file;
  Json whole;
};

/// Throws std::runtime_error, one line that names the file and the cause, also where no result of it has times of
/// steps.
Baseline read_baseline(const std::string& file);

/// What became of a benchmark's entries since older ones.
struct Comparison {
  int faster = 0, slower = 0, unchanged = 0;
  int not_comparable = 0;  ///< of other work than their counterparts, or without an interval here or there
  Json json;               ///< each entry, what has no counterpart, what else differs

  /// The same for people.
  std::string text(const KernelCatalog& kernels, const TextStyle& style) const;
};

/// In per cent. An interval covers what varies inside one process; from one run to the next clocks and the places of
/// memory differ, too, and a GPU's clock alone moves in steps near 1 %.
inline constexpr double usual_noise = 3;

/// Matches entries by kernel, settings, n, law, integrator and scene. Where several runs have an entry, its interval
/// before is the hull of theirs and its median theirs. Changed is what has intervals that do not overlap and
/// medians that differ by more than `noise` per cent of the smaller one. Entries whose seed, dt, softening, repulsion,
/// drag or protocol differ did other work: they are not comparable, and neither are those in which one of these or of
/// the times is missing or of another type. `before` is never empty.
Comparison compare(std::span<const Baseline> before, const Json& now, double noise);

}  // namespace orrery
