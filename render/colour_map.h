// Colour maps, and scales from values to their colours.
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <span>
#include <string_view>

#include "render/appearance.h"

namespace orrery::render {

struct ColourStop {
  float at;          ///< place in the map: 0 to 1, ascending
  glm::vec3 colour;  ///< sRGB, 0 to 1
};

/// Colours for a value from low to high.
struct ColourMap {
  std::string_view id;
  std::string_view title;
  std::span<const ColourStop> stops;  ///< stops from place 0 to place 1, both included
};

/// Returns all maps; shown_colour_map() returns an index into them.
std::span<const ColourMap> colour_maps();

/// Returns the colours of parts of a scene and of domains, in sRGB: those of Okabe and Ito (2008) and a violet. On
/// white, they are inks that are never pale. Colour-blind people can tell the first four apart on both backgrounds.
std::array<glm::vec3, part_colour_count> part_colours(Theme theme);

/// Colour of a body whose value is not known, sRGB.
inline constexpr glm::vec3 unknown_colour{0.4f};

glm::vec3 linear_from_srgb(glm::vec3 colour);
glm::vec3 srgb_from_linear(glm::vec3 colour);

/// Returns the colour at a place of the map, in linear light. If `at` is outside 0 to 1, returns the nearer end's
/// colour.
glm::vec3 linear_colour(const ColourMap& map, float at);

/// Returns the colour of a body. On a dark background, it is a light and never dark: lights add up, and a dark one
/// would vanish. On white, it is an ink and never pale.
glm::vec3 body_colour(const ColourMap& map, float at, Theme theme);

/// Returns the colour of a density. On white, colours run from the background through the map from its last to its
/// first colour, so that much mass is dark.
glm::vec3 density_colour(const ColourMap& map, float at, Theme theme);

/// Scale from a value to a place in the colour map.
struct ColourScale {
  ValueRange range;  ///< low < high; if logarithmic, both are > 0
  bool logarithmic = false;

  /// Returns the place of `value` in the map: 0 to 1 within the range.
  float place(float value) const;
};

/// Returns the scale of the quantity that the picture shows. `automatic`: the ends that the user did not fix.
ColourScale colour_scale(const Appearance& appearance, const ValueRanges& automatic);

}  // namespace orrery::render
