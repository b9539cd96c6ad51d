#include "render/colour_map.h"

#include <algorithm>
#include <cmath>
#include <glm/gtc/color_space.hpp>
#include <iterator>

#include "render/appearance.h"

namespace orrery::render {
namespace {

/// Colours of stars from 2,000 K to 20,000 K, more saturated than they look.
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

/// Six hues, each of which occurs once, for reading values.
constexpr ColourStop spectrum[] = {
    {0.00f, {0.36f, 0.30f, 0.94f}}, {0.20f, {0.12f, 0.60f, 0.96f}}, {0.40f, {0.10f, 0.84f, 0.58f}},
    {0.60f, {0.72f, 0.90f, 0.20f}}, {0.80f, {1.00f, 0.62f, 0.14f}}, {1.00f, {0.94f, 0.20f, 0.16f}},
};

/// Viridis, inferno, magma: perceptually uniform, by Smith and van der Walt (matplotlib 1.5, CC0).
constexpr ColourStop viridis[] = {
    {0.000f, {0.267f, 0.005f, 0.329f}}, {0.125f, {0.279f, 0.175f, 0.483f}}, {0.250f, {0.231f, 0.322f, 0.546f}},
    {0.375f, {0.173f, 0.449f, 0.558f}}, {0.500f, {0.129f, 0.569f, 0.549f}}, {0.625f, {0.157f, 0.682f, 0.502f}},
    {0.750f, {0.369f, 0.789f, 0.383f}}, {0.875f, {0.678f, 0.864f, 0.190f}}, {1.000f, {0.993f, 0.906f, 0.144f}},
};

constexpr ColourStop inferno[] = {
    {0.000f, {0.001f, 0.000f, 0.014f}}, {0.125f, {0.122f, 0.048f, 0.282f}}, {0.250f, {0.342f, 0.062f, 0.429f}},
    {0.375f, {0.550f, 0.134f, 0.413f}}, {0.500f, {0.736f, 0.216f, 0.330f}}, {0.625f, {0.888f, 0.354f, 0.194f}},
    {0.750f, {0.978f, 0.557f, 0.035f}}, {0.875f, {0.972f, 0.793f, 0.229f}}, {1.000f, {0.988f, 0.998f, 0.645f}},
};

constexpr ColourStop magma[] = {
    {0.000f, {0.001f, 0.000f, 0.014f}}, {0.125f, {0.113f, 0.066f, 0.277f}}, {0.250f, {0.317f, 0.072f, 0.485f}},
    {0.375f, {0.513f, 0.148f, 0.508f}}, {0.500f, {0.717f, 0.215f, 0.475f}}, {0.625f, {0.905f, 0.320f, 0.388f}},
    {0.750f, {0.987f, 0.536f, 0.382f}}, {0.875f, {0.997f, 0.769f, 0.534f}}, {1.000f, {0.987f, 0.991f, 0.750f}},
};

/// Turbo (Mikhailov 2019, Apache 2.0): many hues, for reading values.
constexpr ColourStop turbo[] = {
    {0.000f, {0.190f, 0.072f, 0.232f}}, {0.125f, {0.271f, 0.388f, 0.859f}}, {0.250f, {0.180f, 0.650f, 0.996f}},
    {0.375f, {0.101f, 0.882f, 0.727f}}, {0.500f, {0.421f, 0.992f, 0.388f}}, {0.625f, {0.786f, 0.925f, 0.204f}},
    {0.750f, {0.992f, 0.684f, 0.208f}}, {0.875f, {0.897f, 0.319f, 0.053f}}, {1.000f, {0.480f, 0.016f, 0.011f}},
};

/// Colours of a glowing body: black through red, orange and yellow to white. The lightness L* of CIELAB is 100 times
/// the place in the map; a* and b* are interpolated in L* between six colours of that series. The first colour is not
/// quite black, because a light needs a hue.
constexpr ColourStop black_body[] = {
    {0.000f, {0.020f, 0.000f, 0.004f}}, {0.125f, {0.245f, 0.070f, 0.031f}}, {0.250f, {0.466f, 0.077f, 0.044f}},
    {0.375f, {0.675f, 0.122f, 0.043f}}, {0.500f, {0.837f, 0.268f, 0.049f}}, {0.625f, {0.944f, 0.452f, 0.076f}},
    {0.750f, {1.000f, 0.646f, 0.153f}}, {0.875f, {1.000f, 0.846f, 0.365f}}, {1.000f, {1.000f, 1.000f, 1.000f}},
};

/// Blue over grey to red, equally light at both ends, for values of either sign (Moreland 2009, "Diverging color maps
/// for scientific visualization").
constexpr ColourStop cool_warm[] = {
    {0.000f, {0.230f, 0.299f, 0.754f}}, {0.125f, {0.383f, 0.510f, 0.918f}}, {0.250f, {0.553f, 0.689f, 0.995f}},
    {0.375f, {0.722f, 0.814f, 0.977f}}, {0.500f, {0.865f, 0.865f, 0.865f}}, {0.625f, {0.959f, 0.770f, 0.678f}},
    {0.750f, {0.958f, 0.603f, 0.482f}}, {0.875f, {0.869f, 0.379f, 0.300f}}, {1.000f, {0.706f, 0.016f, 0.150f}},
};

constexpr ColourMap maps[] = {
    {"stellar", "Stellar: red giants to blue stars", stellar},
    {"ember", "Ember: wine red to pale gold", ember},
    {"aurora", "Aurora: violet, teal, lime", aurora},
    {"nebula", "Nebula: blue, magenta, peach", nebula},
    {"ice", "Ice: deep blue to white", ice},
    {"spectrum", "Spectrum: violet to red", spectrum},
    {"viridis", "Viridis: perceptually uniform", viridis},
    {"inferno", "Inferno: perceptually uniform, from black", inferno},
    {"magma", "Magma: perceptually uniform, from black", magma},
    {"turbo", "Turbo: many hues", turbo},
    {"black-body", "Black body: perceptually uniform, red to white heat", black_body},
    {"cool-warm", "Cool to warm: blue, grey, red", cool_warm},
};

static_assert(std::ranges::equal(maps, colour_map_ids, {}, &ColourMap::id));

constexpr std::array<glm::vec3, part_colour_count> parts{{{0.337f, 0.706f, 0.914f},
                                                          {0.902f, 0.624f, 0.000f},
                                                          {0.800f, 0.475f, 0.655f},
                                                          {0.000f, 0.620f, 0.451f},
                                                          {0.941f, 0.894f, 0.259f},
                                                          {0.000f, 0.447f, 0.698f},
                                                          {0.835f, 0.369f, 0.000f},
                                                          {0.550f, 0.350f, 1.000f}}};

/// Returns an ink of the same hue that is never pale, in linear light.
glm::vec3 ink_of(glm::vec3 linear) {
  constexpr float palest = 0.22f;  // luminance: a contrast of 4 to 1 with white
  const float luminance = glm::dot(linear, glm::vec3{0.2126f, 0.7152f, 0.0722f});
  return linear * std::min(1.0f, palest / std::max(luminance, 1e-6f));
}

}  // namespace

std::span<const ColourMap> colour_maps() {
  return maps;
}

std::array<glm::vec3, part_colour_count> part_colours(Theme theme) {
  std::array<glm::vec3, part_colour_count> colours = parts;
  if (theme == Theme::dark) return colours;
  for (glm::vec3& colour : colours) colour = srgb_from_linear(ink_of(linear_from_srgb(colour)));
  return colours;
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

glm::vec3 body_colour(const ColourMap& map, float at, Theme theme) {
  const glm::vec3 linear = linear_colour(map, at);
  if (theme == Theme::light) return ink_of(linear);
  constexpr float least = 0.5f;  // minimum of the strongest channel, in sRGB
  const glm::vec3 colour = srgb_from_linear(linear);
  const float most = std::max({colour.r, colour.g, colour.b, 1e-6f});
  return linear_from_srgb(colour * std::max(1.0f, least / most));
}

glm::vec3 density_colour(const ColourMap& map, float at, Theme theme) {
  if (theme == Theme::dark) return linear_colour(map, at);
  constexpr float fully_inked = 0.25f;  // place in the map from which the ink has its full strength
  const glm::vec3 ink = srgb_from_linear(linear_colour(map, 1 - at));
  return linear_from_srgb(glm::mix(glm::vec3{1}, ink, std::clamp(at / fully_inked, 0.0f, 1.0f)));
}

namespace {

constexpr float least_ratio = 1e-6f;  // ratio of the ends of a logarithmic scale that begins at 0

const ValueRange& range_of(const Appearance& appearance, const ValueRanges& ranges) {
  if (appearance.look == Look::density) return ranges.mass_per_area;
  return ranges.*appearance.colour_by->range;
}

bool is_logarithmic(const Appearance& appearance) {
  if (appearance.scale != Scale::automatic) return appearance.scale == Scale::logarithmic;
  if (appearance.low && !(*appearance.low > 0)) return false;
  return appearance.look == Look::density || appearance.colour_by->logarithmic;
}

}  // namespace

float ColourScale::place(float value) const {
  if (!logarithmic) return (value - range.low) / (range.high - range.low);
  return std::log(value / range.low) / std::log(range.high / range.low);
}

ColourScale colour_scale(const Appearance& appearance, const ValueRanges& automatic) {
  ColourScale scale{range_of(appearance, automatic), is_logarithmic(appearance)};
  auto& [low, high] = scale.range;
  low = appearance.low.value_or(low);
  high = appearance.high.value_or(high);
  if (!(high > low)) (appearance.high ? low : high) = appearance.high ? 0.5f * high : 2 * low;  // keeps a fixed end
  if (!(high > low)) high = low + 1;
  if (scale.logarithmic) low = std::max(low, high * least_ratio);
  return scale;
}

}  // namespace orrery::render
