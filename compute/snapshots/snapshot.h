// Snapshots: bodies with properties, units and time; views of snapshots for writers; a user's hints about a file.
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

/// Numbers of a file's bodies in double precision, kept until take_low_words(). An array is empty while Bodies holds
/// its numbers exactly; otherwise it has one entry per body.
struct WideBodies {
  bool in_double = false;  ///< set by readers: the file holds doubles or decimal text
  std::vector<Vec3d> positions{}, velocities{};
  std::vector<double> masses{};
};

/// Origin that was subtracted from all positions and velocities, so that single precision resolves close bodies. In the
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

/// Returns the frame as text, such as "origin moved to 70000, 0, 12.5".
std::string frame_text(const Frame& frame);

// The set functions store a number of an existing body in double precision, and rounded in Bodies. `axis`: 0 to 2.
void set_position(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_velocity(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_mass(Snapshot& snapshot, std::size_t body, double value);
void append_body(Snapshot& snapshot, const Vec3d& position, double mass, const Vec3d& velocity);

/// Appends the bodies of another snapshot, without their properties.
void append_bodies(Snapshot& to, const Snapshot& from);

/// Makes the numbers that readers stored fit single precision. Call once, after the snapshot has its final units.
///  - Snapshot::box: on an axis that is over half empty, joins bodies that the edge cuts. If all axes are, clears the
///    box.
///  - If a number is beyond SnapshotLimits and units are known, calls convert_to_handy_units().
///  - Positions of doubles: subtracts a centre if rounding, 2^-24 of the distance from the origin, exceeds 1e-4 of the
///    smallest separation, and if the bodies' spread is below a quarter of that distance. Velocities: subtracts the
///    velocity of the centre of mass by a similar rule. Snapshot::frame stores both.
///  - Adds a note if rounding still changes the separation of close pairs by more than 1 %.
/// The doubles remain, relative to the centre, until take_low_words(). Adds a note for each change. Returns why a body
/// cannot be used in a run, such as "body 3 (counted from 0): a coordinate beyond 1e15"; empty if all can.
std::string settle(Snapshot& snapshot);

/// Converts the snapshot to units with G = 1 in which its numbers are near 1, and adds a note. Returns false if its
/// units are unknown, or if no units suit.
bool convert_to_handy_units(Snapshot& snapshot);

/// Rounds the doubles and stores them in Bodies.
void round_all(Snapshot& snapshot);

/// Splits the doubles into the floats and low parts of Bodies, then discards them. Without doubles, Bodies does not
/// change.
void take_low_words(Snapshot& snapshot);

/// Species of a body, in the order of GADGET's particle types. Files store its number.
enum class Species : std::uint8_t { gas, dark, disc, bulge, star, boundary };

inline constexpr std::size_t species_count = 6;

/// Returns the name of a species, such as "gas".
const char* species_name(Species species);

/// Reduces a species to gas, dark or star.
constexpr Species plain_species(Species species) {
  if (species == Species::boundary) return Species::dark;
  return species == Species::disc || species == Species::bulge ? Species::star : species;
}

/// Properties of bodies besides mass, position and velocity. Steps do not change them. Each vector is empty or has one
/// entry per body, in the order of Bodies.
struct BodyProperties {
  std::vector<std::uint64_t> ids;        ///< empty: a body's id is its index, from 0
  std::vector<Species> species;          ///< empty: all are dark
  std::vector<float> softening;          ///< softening lengths; empty: Snapshot::softening
  std::vector<float> temperature;        ///< temperature of gas; empty: all 0
  std::vector<float> metals;             ///< mass fraction, of gas and stars; empty: all 0
  std::vector<float> formation_time;     ///< formation time of stars; empty: all 0
  bool formation_scale_factors = false;  ///< formation_time holds scale factors, which have no unit
  friend bool operator==(const BodyProperties&, const BodyProperties&) = default;
};

/// State of a system at one time, in `units`. Without `units`, its numbers are in unknown units with G = 1.
struct Snapshot {
  Bodies bodies;
  BodyProperties properties{};
  double time = 0;                    ///< finite, in units of length / velocity
  float softening = 0;                ///< common softening length, unless `properties` has individual ones
  std::optional<Units> units{};       ///< empty: not known
  bool units_assumed = false;         ///< the file states no units: `units` are the usual ones of its format
  std::vector<std::string> notes{};   ///< assumptions of a reader, such as "masses are not in the file: ..."
  std::vector<std::string> unread{};  ///< data of the file that were not read, such as "density of gas"
  bool part = false;                  ///< other files of the snapshot were not read, or the header promises more bodies
  Vec3d box{};                        ///< edge lengths of a periodic box; 0: the axis is not periodic. See settle()
  Frame frame{};                      ///< origin of `bodies` in the coordinates of the file
  WideBodies wide{};                  ///< exact numbers, set by readers and emptied by take_low_words()
  std::string units_file{};           ///< separate file that states the units; empty: none
};

/// Converts the snapshot to units in which G = 1, keeping the units of length and mass. Does nothing without units.
void convert_to_gravity_units(Snapshot& snapshot);

/// Limits for a body's numbers, so that squared distances and accelerations stay in the range of single precision.
struct SnapshotLimits {
  static constexpr float largest = 1e15f;         ///< largest magnitude of a coordinate, a velocity or a mass
  static constexpr float smallest_mass = 1e-30f;  ///< smallest mass, except 0 for a test particle
};

/// A snapshot to be written. Its bodies need not be in the memory of this process.
struct SnapshotView {
  std::unique_ptr<BodySource> bodies;  ///< never null
  const BodyProperties& properties;    ///< must outlive this
  // The members below are as in Snapshot.
  double time = 0;
  float softening = 0;
  std::optional<Units> units{};
  bool units_assumed = false;
  Frame frame{};

  /// The next functions return numbers of a body in the file's coordinates: they add `frame` in double precision.
  Vec3d position(std::size_t body) const;
  Vec3d velocity(std::size_t body) const;
};

/// Returns a view of `snapshot`, which must outlive it.
SnapshotView view_of(const Snapshot& snapshot);

/// View of a snapshot that converts its numbers to other units when they are read.
class ConvertedSnapshot {
 public:
  /// Makes a view of `of` in the units `to`, with the factors `scale`. `of` and the objects to which it refers must
  /// outlive this.
  ConvertedSnapshot(const SnapshotView& of, const UnitScale& scale, const Units& to);
  const SnapshotView& view() const { return view_; }

 private:
  BodyProperties properties_;
  SnapshotView view_;
};

/// Range of h = H0 / (100 km/s/Mpc).
inline constexpr Range<double> hubble_range{0.01, 100};

/// Statements of the user about a file: facts that it lacks, or replacements for its own.
struct SnapshotHints {
  std::vector<BodyColumn> columns{};    ///< columns of a text table, in order; empty: see text.cpp
  std::optional<std::int64_t> state{};  ///< record of a trajectory, counted from 0; empty: the last
  std::optional<Units> units{};        ///< replace the file's units; without a velocity, the format's usual one is used
  std::optional<bool> cosmological{};  ///< whether the file is cosmological; empty: the file decides
  std::optional<double> hubble{};      ///< h in the file's lengths and masses; empty: the file's own value
  friend bool operator==(const SnapshotHints&, const SnapshotHints&) = default;
};

}  // namespace orrery
