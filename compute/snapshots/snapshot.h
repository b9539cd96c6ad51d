// A snapshot: bodies with their properties, units and time, as readers make it, as writers view it, and what a user
// says of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/text.h"
#include "compute/core/vec.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// Returns `by` times the vector.
inline Vec3d scaled(const Vec3d& v, double by) {
  return {v.x * by, v.y * by, v.z * by};
}

/// The numbers of a file's bodies in double, from its reader to settle(). An array is empty while Bodies has the same
/// numbers; otherwise it has one entry per body.
struct WideBodies {
  bool in_double = false;  ///< the file holds doubles or decimal text: its reader sets this
  std::vector<Vec3d> positions{}, velocities{};
  std::vector<double> masses{};
};

/// The origin that was subtracted from the coordinates of all bodies, so that single precision tells them apart. In the
/// snapshot's units; all zero if nothing was subtracted.
struct Frame {
  Vec3d position{};  ///< position of the origin at `time`
  Vec3d velocity{};  ///< velocity of the origin
  double time = 0;

  bool is_moved() const { return position != Vec3d{} || velocity != Vec3d{}; }
  Vec3d origin_at(double now) const {
    const double dt = now - time;
    return {position.x + velocity.x * dt, position.y + velocity.y * dt, position.z + velocity.z * dt};
  }
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Returns a text for people, such as "origin moved to 70000, 0, 12.5".
std::string frame_text(const Frame& frame);

// Readers call these to store numbers in double, and rounded in Bodies, which has the body already. `axis`: 0 to 2.
void set_position(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_velocity(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_mass(Snapshot& snapshot, std::size_t body, double value);
void append_body(Snapshot& snapshot, const Vec3d& position, double mass, const Vec3d& velocity);

/// Appends the bodies of another snapshot, not their properties.
void append_bodies(Snapshot& to, const Snapshot& from);

/// Converts the numbers that readers stored to the units of the snapshot. Call once, with the final units.
///  - Snapshot::box: if more than half of an axis is empty, bodies that the edge cuts are joined. If this holds for all
///    axes, the box is cleared.
///  - Numbers beyond SnapshotLimits are converted to handy units, if units are known.
///  - A centre is subtracted from the positions of doubles if rounding them, by 2^-24 of the distance from the origin,
///    exceeds 1e-4 of the bodies' smallest separation, and their spread is below a quarter of that distance; the
///    velocity of the centre of mass the same way. Snapshot::frame has both.
///  - A note tells if rounding still changes the separation of close pairs by more than 1 %.
/// The doubles stay, relative to that centre, until take_low_words().
/// Adds a note for each change. Returns why a body cannot be stepped, such as "body 3 (counted from 0): a coordinate
/// beyond 1e15"; empty if all can.
std::string settle(Snapshot& snapshot);

/// Expresses the snapshot in units of G = 1 in which its numbers are near 1, with a note. Returns false if its units
/// are not known, or none suit.
bool convert_to_handy_units(Snapshot& snapshot);

/// Rounds the doubles and stores them in Bodies.
void round_all(Snapshot& snapshot);

/// Stores what rounding cut off the doubles as low words of the bodies, and discards the doubles. Bodies that have low
/// words keep them.
void take_low_words(Snapshot& snapshot);

/// In the order of GADGET's particle types; in files, a species is its number.
enum class Species : std::uint8_t { gas, dark, disc, bulge, star, boundary };

inline constexpr std::size_t species_count = 6;

/// Returns the name of a species, such as "gas".
const char* species_name(Species species);

/// Reduces a species to gas, dark or star.
constexpr Species plain_species(Species species) {
  if (species == Species::boundary) return Species::dark;
  return species == Species::disc || species == Species::bulge ? Species::star : species;
}

/// Properties of bodies besides mass, position and velocity. Steps do not change it. Each vector is empty or has one
/// entry per body, in the order of Bodies.
struct BodyProperties {
  std::vector<std::uint64_t> ids;        ///< empty: a body's id is its place, counted from 0
  std::vector<Species> species;          ///< empty: all are dark
  std::vector<float> softening;          ///< lengths, as in the file; empty: Snapshot::softening
  std::vector<float> temperature;        ///< temperature of gas; empty: all 0
  std::vector<float> metals;             ///< mass fraction, of gas and stars; empty: all 0
  std::vector<float> formation_time;     ///< formation time of stars; empty: all 0
  bool formation_scale_factors = false;  ///< formation_time holds scale factors, which no unit changes
  friend bool operator==(const BodyProperties&, const BodyProperties&) = default;
};

/// The state of a system at one time, in the units of its file. Without `units`, these are any in which G = 1.
struct Snapshot {
  Bodies bodies;
  BodyProperties properties{};
  double time = 0;                    ///< finite, in units of length / velocity
  float softening = 0;                ///< softening length of all bodies, unless each has its own
  std::optional<Units> units{};       ///< empty: not known
  bool units_assumed = false;         ///< the file does not hold them: they are the usual ones of its format
  std::vector<std::string> notes{};   ///< assumptions of a reader, such as "masses are not in the file: ..."
  std::vector<std::string> unread{};  ///< data of the file that were not read, such as "density of gas"
  bool part = false;                  ///< other files of the snapshot were not read, or the header promises more bodies
  Vec3d box{};               ///< edges of a periodic box that the bodies fill; 0: an axis has none. See settle()
  Frame frame{};             ///< origin of `bodies` in the coordinates of the file
  WideBodies wide{};         ///< exact numbers, filled by readers and emptied by settle()
  std::string units_file{};  ///< the separate file with its units; empty: there is none
};

/// Expresses the snapshot in units in which G = 1, keeping the units of length and mass. Does nothing without units.
void convert_to_gravity_units(Snapshot& snapshot);

/// Limits of a body read from a file, so that no squared distance and no pull leaves the range of single precision.
struct SnapshotLimits {
  static constexpr float largest = 1e15f;         ///< largest magnitude of a coordinate, a velocity or a mass
  static constexpr float smallest_mass = 1e-30f;  ///< smallest mass, except 0 for a test particle
};

/// A snapshot to be written. Its bodies need not be in the memory of this process.
struct SnapshotView {
  std::unique_ptr<BodySource> bodies;  ///< never null
  const BodyProperties& properties;    ///< must outlive this
  // The same as in Snapshot:
  double time = 0;
  float softening = 0;
  std::optional<Units> units{};
  bool units_assumed = false;
  Frame frame{};

  /// These return a body's position and velocity in the coordinates of the file: `frame` is added in double precision.
  Vec3d position(std::size_t body) const;
  Vec3d velocity(std::size_t body) const;
};

/// Returns a view of `snapshot`, which must outlive it.
SnapshotView view_of(const Snapshot& snapshot);

/// View of a snapshot that converts its numbers to other units when they are read.
class ConvertedSnapshot {
 public:
  /// Converts to the units `to` by `scale`. `of` and the objects to which it refers must outlive this.
  ConvertedSnapshot(const SnapshotView& of, const UnitScale& scale, const Units& to);
  const SnapshotView& view() const { return view_; }

 private:
  BodyProperties properties_;
  SnapshotView view_;
};

/// Range of h = H0 / (100 km/s/Mpc).
inline constexpr Range<double> hubble_range{0.01, 100};

/// Facts about a file that the user gives because the file does not state them.
struct SnapshotHints {
  std::vector<BodyColumn> columns{};    ///< columns of a text table, in order; empty: see text.cpp
  std::optional<std::int64_t> state{};  ///< record of a trajectory, counted from 0; empty: the last
  std::optional<Units>
      units{};  ///< units in place of the file's; if they name no velocity, the format's usual one is used
  std::optional<bool> cosmological{};  ///< whether its space expands; empty: the file decides
  std::optional<double> hubble{};      ///< h, by which its lengths and masses are to be divided; empty: it decides
  friend bool operator==(const SnapshotHints&, const SnapshotHints&) = default;
};

}  // namespace orrery
