#pragma once

#include <cstdint>
#include <vector>

#include "compute/core/bodies.h"

namespace orrery {

enum class Species : std::uint8_t { gas, dark, star };

/// What bodies have besides mass, position and velocity. Steps do not change it. Each vector is empty or has one entry
/// per body, in the order of Bodies.
struct BodyProperties {
  std::vector<std::uint64_t> ids;     ///< empty: a body's id is its place, counted from 0
  std::vector<Species> species;       ///< empty: all are dark
  std::vector<float> softening;       ///< lengths, as in the file; empty: Snapshot::softening
  std::vector<float> temperature;     ///< of gas; empty: all 0
  std::vector<float> metals;          ///< mass fraction, of gas and stars; empty: all 0
  std::vector<float> formation_time;  ///< of stars; empty: all 0
  friend bool operator==(const BodyProperties&, const BodyProperties&) = default;
};

/// The state of a system at one time, in units of G = 1. The units of length and mass are those of the file.
struct Snapshot {
  Bodies bodies;
  BodyProperties properties{};
  double time = 0;      ///< finite
  float softening = 0;  ///< of all bodies, if they have no lengths of their own
};

/// Limits of a body read from a file, so that no squared distance and no pull leaves the range of single precision.
struct SnapshotLimits {
  static constexpr float largest = 1e15f;  ///< of a coordinate, a velocity or a mass, as a magnitude
  static constexpr float smallest_mass = 1e-30f;
};

}  // namespace orrery
