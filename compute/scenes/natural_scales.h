// Softening and time step for the bodies of a file, from their orbits and their densest region. Also checks whether
// gravity underflows in single precision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// Time step and softening length that suit some bodies, found from the bodies alone.
struct NaturalScales {
  double time_step = 0, softening = 0;  ///< > 0
  double smallest_orbit = 0;            ///< size of the smallest orbit, to be resolved by softening; 0: no orbits
  std::string why_softening{}, why_time_step{};

  /// Returns whether the softening is in the range of Law, and the time step is a normal float.
  bool usable() const;
  /// Returns "softening 0.0013 (a 300th of ...), 1.3 pc". `units`, in which G = 1, give the physical value; empty:
  /// none.
  std::string softening_text(const std::optional<Units>& units) const;
  /// Returns "dt 0.0075 (a 200th of ...), 64 kyr", the same way.
  std::string time_step_text(const std::optional<Units>& units) const;
};

/// Returns the scales of bodies. If there is at least one of the bound_orbits() per 200 bodies, the smallest orbit
/// decides, because errors grow first in it. The smallest thousandth of the orbits is skipped, unless one body has most
/// of the mass. In systems of more than 16 bodies, chance pairs are ignored: their binding energy is below a body's
/// mean kinetic energy.
///   softening = size / 300,  time_step = min(period / 200, 0.06 sqrt(r^3 / M)).
/// Otherwise the densest region decides: the smallest of 64 balls that are centred on bodies and hold a tenth of all
/// bodies. r is its radius, M its mass, and d the mean distance of neighbours in it; v is the rms speed of all bodies
/// relative to their centre of mass.
///   softening = d / 2,  time_step = min(0.06 sqrt(r^3 / M), 0.4 softening / max(v, sqrt(M / r))).
/// `own_softening`: the file's softening, used instead of these; 0: none. If all bodies are at one point, softening =
/// 0.02 and time_step = 0.005, and the texts say that this is arbitrary.
NaturalScales natural_scales(const Bodies& bodies, double own_softening = 0);

/// Returns the softening length of a file: the common one, or the smallest one with a note that they differ; 0: none.
double softening_in(Snapshot& snapshot);

/// Returns a number as text with three digits, such as "0.0129".
std::string short_number(double value);

/// Returns a warning such as "softening 0.04 exceeds a tenth of the smallest orbit, 0.387: ..."; empty if it is
/// smaller.
std::string coarse_softening(double softening, double smallest_orbit);

/// Orbit of a body around a heavier one, computed from these two alone. Lengths and times in units of G = 1.
struct Orbit {
  int body = 0, around = 0;
  double size = 0;     ///< distance of the pericentre; for a radial orbit, a fiftieth of the semi-major axis
  double time = 0;     ///< period of a circular orbit of this size
  double binding = 0;  ///< binding energy m1 m2 / 2a
};

/// Returns the bound orbits that the rest of the system hardly disturbs, the smallest first. There are two kinds:
///  - Orbits around one of the 16 heaviest bodies, if the bodies nearer to it have less than half of the pair's mass.
///    In a system of more than 16 bodies, the heavy body must have at least ten median masses.
///  - Orbits of nearest neighbours, in systems of at most 262,144 bodies, if the next body is at least eight times as
///    far, and the tide of the heaviest bodies is weaker than the pair's own pull.
std::vector<Orbit> bound_orbits(const Bodies& bodies);

/// Returns whether gravity between bodies underflows in single precision. True if, for more than half of a sample of
/// the bodies, accelerations below the smallest normal float make up more than half of the sum of magnitudes. False for
/// a single body.
bool forces_underflow(const Bodies& bodies, float softening);

}  // namespace orrery
