#include "render/colour_map.h"

#include <algorithm>
#include <glm/gtc/color_space.hpp>
#include <iterator>

#include "render/appearance.h"

namespace orrery::render {
namespace {

/// The light of stars from 2,000 K to 20,000 K, more saturated than it looks.
constexpr ColourStop stellar[] = {
    {0.00f, {0.96f, 0.30f, 0.15f}}, {0.20f, {1.00f, 0.48f, 0.21f}}, {0.40f, {1.00f, 0.70f, 0.37f}},
    {0.55f, {1.00f, 0.88f, 0.67f}}, {0.66f, {0.96f, 0.95f, 1.00f}}, {0.80f, {0.60f, 0.76f, 1.00f}},
    {1.00f, {0.34f, 0.53f, 1.00f}},
};
constexpr ColourStop ember[] = {
    {0.00f, {0.50f, 0.06f, 0.22f}}, {0.25f, {0.82f, 0.13f, 0.20f}}, {0.50f, {0.98f, 0.42f, 0.12f}},
    {0.75f, {1.00f, 0.74f, 0.25f}}, {1.00f, {1.00f, 0.97f, 0.78f}},
};
constexpr ColourStop aurora[] = {
    {0.00f, {0.24f, 0.20f, 0.80f}}, {0.30f, {0.10f, 0.52f, 0.86f}}, {0.55f, {0.10f, 0.84f, 0.68f}},
    {0.78f, {0.52f, 0.96f, 0.46f}}, {1.00f, {0.96f, 1.00f, 0.66f}},
};
constexpr ColourStop nebula[] = {
    {0.00f, {0.16f, 0.32f, 0.92f}}, {0.28f, {0.46f, 0.28f, 0.95f}}, {0.52f, {0.84f, 0.30f, 0.82f}},
    {0.76f, {1.00f, 0.48f, 0.56f}}, {1.00f, {1.00f, 0.86f, 0.66f}},
};
constexpr ColourStop ice[] = {
    {0.00f, {0.10f, 0.28f, 0.72f}},
    {0.40f, {0.16f, 0.58f, 0.94f}},
    {0.72f, {0.52f, 0.86f, 1.00f}},
    {1.00f, {0.96f, 0.99f, 1.00f}},
};
/// For reading values: six hues, each once.
constexpr ColourStop spectrum[] = {
    {0.00f, {0.36f, 0.30f, 0.94f}}, {0.20f, {0.12f, 0.60f, 0.96f}}, {0.40f, {0.10f, 0.84f, 0.58f}},
    {0.60f, {0.72f, 0.90f, 0.20f}}, {0.80f, {1.00f, 0.62f, 0.14f}}, {1.00f, {0.94f, 0.20f, 0.16f}},
};

constexpr ColourMap maps[] = {
    {"stellar", "Stellar: red giants to blue stars", stellar},
    {"ember", "Ember: wine red to pale gold", ember},
    {"aurora", "Aurora: violet, teal, lime", aurora},
    {"nebula", "Nebula: blue, magenta, peach", nebula},
    {"ice", "Ice: deep blue to white", ice},
    {"spectrum", "Spectrum: violet to red", spectrum},
};
static_assert(std::size(maps) == colour_map_count);

}  // namespace

std::span<const ColourMap> colour_maps() {
  return maps;
}

glm::vec3 linear_from_srgb(glm::vec3 colour) {
  return glm::convertSRGBToLinear(colour);
}
glm::vec3 srgb_from_linear(glm::vec3 colour) {
  return glm::convertLinearToSRGB(colour);
}

glm::vec3 linear_colour(const ColourMap& map, float at) {
  const auto upper = std::ranges::upper_bound(map.stops, at, {}, &ColourStop::at);
  if (upper == map.stops.begin()) return linear_from_srgb(map.stops.front().colour);
  if (upper == map.stops.end()) return linear_from_srgb(map.stops.back().colour);
  const ColourStop& lower = *std::prev(upper);
  const float share = (at - lower.at) / (upper->at - lower.at);
  return glm::mix(linear_from_srgb(lower.colour), linear_from_srgb(upper->colour), share);
}

}  // namespace orrery::render
