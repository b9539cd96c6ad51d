#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

struct Snapshot;

/// The numbers of a file's bodies in double, from its reader to settle(). An array is empty while Bodies has the same
/// numbers; otherwise it has one entry per body.
struct WideBodies {
  bool in_double = false;  ///< the file holds doubles or decimal text: its reader sets this
  std::vector<Vec3d> positions{}, velocities{};
  std::vector<double> masses{};
};

/// What was subtracted from the coordinates of all bodies, so that single precision tells them apart. In the snapshot's
/// units; all zero where nothing was.
struct Frame {
  Vec3d position{};  ///< of the origin at `time`
  Vec3d velocity{};  ///< of the origin
  double time = 0;

  bool is_moved() const { return position != Vec3d{} || velocity != Vec3d{}; }
  Vec3d origin_at(double now) const {
    const double dt = now - time;
    return {position.x + velocity.x * dt, position.y + velocity.y * dt, position.z + velocity.z * dt};
  }
  friend bool operator==(const Frame&, const Frame&) = default;
};
/// "origin moved to 70000, 0, 12.5": for people.
std::string frame_text(const Frame& frame);

// Readers call these: they give numbers in double, which Bodies gets rounded. `axis`: 0 to 2. Bodies has the body
// already.
void set_position(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_velocity(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_mass(Snapshot& snapshot, std::size_t body, double value);
void append_body(Snapshot& snapshot, const Vec3d& position, double mass, const Vec3d& velocity);
/// Appends the bodies of another snapshot, not their properties.
void append_bodies(Snapshot& to, const Snapshot& from);

/// Makes the numbers that readers gave the snapshot's own. Call it once, with the final units.
///  - Snapshot::box: along an axis that is empty for more than half of the box, bodies that its edge cuts are joined.
///  If
///    none is fuller, the box is forgotten.
///  - Numbers beyond SnapshotLimits are converted to handy units, if units are known.
///  - A centre is subtracted from the positions of doubles if rounding them, by 2^-24 of the distance from the origin,
///    exceeds 1e-4 of the bodies' smallest separation, and their spread is below a quarter of that distance; the mean
///    velocity the same way. Snapshot::frame has both.
/// The doubles stay, relative to that centre, until take_low_words().
/// Each of that adds a note. Returns why a body cannot be stepped, such as "body 3 (counted from 0): a coordinate
/// beyond 1e15"; empty if all can.
std::string settle(Snapshot& snapshot);

/// Expresses the snapshot in units of G = 1 in which its numbers are near 1, with a note. Returns false if its units
/// are not known, or none suit.
bool convert_to_handy_units(Snapshot& snapshot);

/// Gives Bodies the doubles, rounded.
void round_all(Snapshot& snapshot);

/// What remains of the doubles becomes low words of the bodies; forgets the doubles. Bodies that have low words keep
/// them.
void take_low_words(Snapshot& snapshot);

}  // namespace orrery
