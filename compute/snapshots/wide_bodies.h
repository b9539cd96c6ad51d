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

/// The origin that was subtracted from the coordinates of all bodies, so that single precision tells them apart. In the
/// snapshot's units; all zero if nothing was subtracted.
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

// Readers call these to store numbers in double, and rounded in Bodies, which has the body already. `axis`: 0 to 2.
void set_position(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_velocity(Snapshot& snapshot, std::size_t body, std::size_t axis, double value);
void set_mass(Snapshot& snapshot, std::size_t body, double value);
void append_body(Snapshot& snapshot, const Vec3d& position, double mass, const Vec3d& velocity);
/// Appends the bodies of another snapshot, not their properties.
void append_bodies(Snapshot& to, const Snapshot& from);

/// Converts the numbers that readers stored to those of the snapshot. Call once, with the final units.
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

}  // namespace orrery
