// Bodies to draw, and settings of how they are drawn.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace orrery::render {

/// Ids of colour_maps().
inline constexpr std::array<std::string_view, 12> colour_map_ids{"stellar", "ember",    "aurora",     "nebula",
                                                                 "ice",     "spectrum", "viridis",    "inferno",
                                                                 "magma",   "turbo",    "black-body", "cool-warm"};
inline constexpr int colour_map_count = static_cast<int>(colour_map_ids.size());
inline constexpr int automatic_colour_map = -1;

inline constexpr int part_colour_count = 8;  ///< number of part_colours()

/// Quantity that the picture shows.
enum class Look {
  lights,  ///< each body as a light in the colour of its value
  density  ///< mass per area, summed along the line of sight
};

/// The background of the picture.
enum class Theme {
  dark,  ///< dark; bodies add light
  light  ///< white, for print; bodies absorb light, as ink does
};

/// Values that take the first and the last colour of the map.
struct ValueRange {
  float low = 0.0f;
  float high = 1.0f;
};

/// Values at the ends of the colour map, for this scene. Percentiles make better pictures than extremes. A body of mass
/// `mass.high` gets a sprite of normal size.
struct ValueRanges {
  ValueRange speed;
  ValueRange mass;
  ValueRange mass_per_area{};
  ValueRange value{};  ///< range of all other values that colours show
};

/// Source of the value that a body's colour shows with Look::lights, and the automatic scale, colour map and range for
/// it. Each body colour in app/colours/ has one.
struct ColourBy {
  enum class Source {
    computed,  ///< from the body's position, mass and velocity, by the shader
    values,    ///< DrawnBodies::values
    parts,     ///< part numbers in DrawnBodies::values; each part has a colour, see part_colours()
    none       ///< all bodies have the last colour of the map
  };
  Source source = Source::values;
  std::string_view glsl{};  ///< a computed value: an expression of `position` (mass in w), `velocity` and `sight`, the
                            ///< unit vector along the camera's view
  bool logarithmic = true;  ///< Scale::automatic means this
  std::string_view map = "viridis";                      ///< automatic colour map, one of colour_map_ids
  ValueRange ValueRanges::*range = &ValueRanges::value;  ///< the automatic range
};

/// Colours bodies by their speed: the default of an appearance.
inline constexpr ColourBy by_speed{.source = ColourBy::Source::computed,
                                   .glsl = "length(velocity.xyz)",
                                   .logarithmic = false,
                                   .map = "stellar",
                                   .range = &ValueRanges::speed};

/// Distribution of values over the colour map.
enum class Scale {
  automatic,   ///< as suits the quantity, see ColourBy::logarithmic
  linear,      ///< spreads values evenly
  logarithmic  ///< spreads the logarithms of values evenly
};

/// Way to draw bodies as light. Both ways give the same picture within a tolerance.
enum class Drawing {
  automatic,  ///< splats if the driver adds 64-bit integers in one operation, otherwise sprites
  sprites,    ///< the rasterizer draws every body, by blending
  splats      ///< compute shaders add every body to an image of integers
};

/// Settings of how bodies are drawn. A plain value without GL, so that panels can edit a copy.
struct Appearance {
  Look look = Look::lights;
  const ColourBy* colour_by = &by_speed;  ///< not null; its object always exists
  int colour_map = automatic_colour_map;  ///< index into colour_maps(), or as suits the quantity
  Scale scale = Scale::automatic;
  std::optional<float> low{}, high{};  ///< values with the first and the last colour; none: found automatically
  float exposure = 1.0f;               ///< scales the light before tone mapping, > 0; no effect on a density
  bool auto_exposure = false;          ///< sets the exposure by the brightest bodies in view; `exposure` then scales it
  float sprite_scale = 1.0f;           ///< scales every sprite, > 0
  Drawing drawing = Drawing::automatic;
  Theme theme = Theme::dark;  ///< theme of the window, see SetTheme
  friend bool operator==(const Appearance&, const Appearance&) = default;
};

/// Returns the index into colour_maps() of the map that is shown.
constexpr int shown_colour_map(const Appearance& appearance) {
  if (appearance.colour_map >= 0 && appearance.colour_map < colour_map_count) return appearance.colour_map;
  const std::string_view suits = appearance.look == Look::density ? "inferno" : appearance.colour_by->map;
  return static_cast<int>(std::ranges::find(colour_map_ids, suits) - colour_map_ids.begin());
}

/// Returns whether the colours show DrawnBodies::values.
constexpr bool shows_values(const Appearance& appearance) {
  using Source = ColourBy::Source;
  const Source source = appearance.colour_by->source;
  return appearance.look == Look::lights && (source == Source::values || source == Source::parts);
}

/// Returns whether the colours show DrawnBodies::values as part numbers. Each part has one of part_colours().
constexpr bool shows_parts(const Appearance& appearance) {
  return appearance.look == Look::lights && appearance.colour_by->source == ColourBy::Source::parts;
}

/// Bodies to draw: the name of a GL buffer of 2 x `count` vec4. It has first all positions with the mass in w, then all
/// velocities, and must not be mapped elsewhere.
struct DrawnBodies {
  unsigned buffer = 0;
  int count = 0;
  /// Name of a GL buffer of `count` floats, used if shows_values(); 0: none. If shows_parts(), a value is a number from
  /// 0 to part_colour_count - 1. NaN: not known yet.
  unsigned values = 0;
};

/// Maximum number of positions in a shader buffer of one dispatch: 64 MB of the 128 MB that every driver allows.
constexpr int most_bodies_per_dispatch = 1 << 22;

}  // namespace orrery::render
