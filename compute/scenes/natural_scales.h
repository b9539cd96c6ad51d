#pragma once

#include <string>

#include "compute/core/bodies.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// A time step and a softening that suit bodies of which nothing else is known.
struct NaturalScales {
  double time_step = 0, softening = 0;  ///< > 0
  double smallest_orbit = 0;            ///< that a softening should resolve; 0: there are no orbits
  std::string reason{};                 ///< "softening 0.0013 (a 300th of ...), dt 0.0075 (a 200th of ...)"

  /// Whether Law and the steps can have them.
  bool usable() const;
};

/// Where at least one body in 200 is on one of bound_orbits(), or a pair is, the smallest orbit decides, in which
/// errors grow first (of more than 1000 orbits, the one that a thousandth of them are below):
///   softening = size / 300,  time_step = min(period / 200, 0.06 sqrt(r^3 / M)).
/// Otherwise the densest region does: of 64 balls around bodies that each hold a tenth of all bodies, the smallest. r
/// is its radius, M its mass, d its mean distance of neighbours; v is the rms speed of all bodies in the frame of their
/// centre of mass.
///   softening = d / 2,  time_step = min(0.06 sqrt(r^3 / M), 0.4 softening / max(v, sqrt(M / r))).
/// `own_softening`: what the file says, which is taken in place of that; 0: nothing. Where no two bodies are apart,
/// softening = 0.02 and time_step = 0.005, and the reason says so.
NaturalScales natural_scales(const Bodies& bodies, double own_softening = 0);

/// The softening that a file says: of all its bodies, or the smallest of theirs, with a note if there are several; 0:
/// none.
double softening_in(Snapshot& snapshot);

/// "0.0129": three digits, for people.
std::string short_number(double value);

/// "softening 0.04 exceeds a tenth of the smallest orbit, 0.387: ..."; empty if it does not.
std::string coarse_softening(double softening, double smallest_orbit);

}  // namespace orrery
