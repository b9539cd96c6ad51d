#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/snapshots/units.h"
#include "compute/snapshots/wide_bodies.h"

namespace orrery {

/// In the order of GADGET's particle types; in files, a species is its number.
enum class Species : std::uint8_t { gas, dark, disc, bulge, star, boundary };
inline constexpr std::size_t species_count = 6;
/// "gas"
const char* species_name(Species species);
/// The one of gas, dark and star that it is.
constexpr Species plain_species(Species species) {
  if (species == Species::boundary) return Species::dark;
  return species == Species::disc || species == Species::bulge ? Species::star : species;
}

/// What bodies have besides mass, position and velocity. Steps do not change it. Each vector is empty or has one entry
/// per body, in the order of Bodies.
struct BodyProperties {
  std::vector<std::uint64_t> ids;        ///< empty: a body's id is its place, counted from 0
  std::vector<Species> species;          ///< empty: all are dark
  std::vector<float> softening;          ///< lengths, as in the file; empty: Snapshot::softening
  std::vector<float> temperature;        ///< of gas; empty: all 0
  std::vector<float> metals;             ///< mass fraction, of gas and stars; empty: all 0
  std::vector<float> formation_time;     ///< of stars; empty: all 0
  bool formation_scale_factors = false;  ///< formation_time holds scale factors, which no unit changes
  friend bool operator==(const BodyProperties&, const BodyProperties&) = default;
};

/// The state of a system at one time, in the units of its file. Without `units`, these are any in which G = 1.
struct Snapshot {
  Bodies bodies;
  BodyProperties properties{};
  double time = 0;                    ///< finite, in units of length / velocity
  float softening = 0;                ///< of all bodies, if they have no lengths of their own
  std::optional<Units> units{};       ///< empty: not known
  bool units_assumed = false;         ///< the file does not hold them: they are the usual ones of its format
  std::vector<std::string> notes{};   ///< what a reader assumed, such as "masses are not in the file: ..."
  std::vector<std::string> unread{};  ///< what the file holds and a Snapshot does not, such as "density of gas"
  bool part = false;                  ///< other files of the snapshot were not read, or the header promises more bodies
  Vec3d box{};               ///< edges of a periodic box that the bodies fill; 0: an axis has none. See settle()
  Frame frame{};             ///< where the origin of `bodies` is in the file
  WideBodies wide{};         ///< from a reader to settle(), and empty elsewhere
  std::string units_file{};  ///< the file beside it that holds its units; empty: there is none
};

/// Expresses the snapshot in units in which G = 1, keeping those of length and mass. Does nothing without units.
void convert_to_gravity_units(Snapshot& snapshot);

/// Limits of a body read from a file, so that no squared distance and no pull leaves the range of single precision.
struct SnapshotLimits {
  static constexpr float largest = 1e15f;         ///< of a coordinate, a velocity or a mass, as a magnitude
  static constexpr float smallest_mass = 1e-30f;  ///< but 0, of a test particle
};

}  // namespace orrery
