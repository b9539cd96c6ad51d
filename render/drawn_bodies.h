#pragma once

namespace orrery::render {

/// The name of a GL buffer of 2 x `count` vec4: first all positions with the mass in w, then all velocities. It may not
/// be mapped elsewhere.
struct DrawnBodies {
  unsigned buffer = 0;
  int count = 0;
  /// The name of a GL buffer of `count` floats for the colours that show_values(); 0: none. A part, see shows_parts(),
  /// is a number from 0 to part_colour_count - 1. NaN: not known yet.
  unsigned values = 0;
};

/// Bodies whose positions one dispatch may have in a shader buffer: 64 MB of the 128 MB that every driver allows.
constexpr int most_bodies_per_dispatch = 1 << 22;

/// Values that take the first and the last colour of the map.
struct ValueRange {
  float low = 0.0f;
  float high = 1.0f;
};

/// The values at the ends of the colour map, for this scene. Percentiles make better pictures than extremes. Bodies of
/// mass `mass.high` get sprites of normal size.
struct ValueRanges {
  ValueRange speed;
  ValueRange mass;
  ValueRange mass_per_area{};
  ValueRange value{};  ///< of DrawnBodies::values
};

}  // namespace orrery::render
