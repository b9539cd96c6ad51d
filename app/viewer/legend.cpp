#include "app/viewer/legend.h"

#include <algorithm>

#include "render/colour_map.h"

namespace orrery {

namespace {

/// The quantity and its range.
Legend scale_of(const render::Appearance& appearance, const render::ValueRanges& ranges) {
  const auto named = [](const char* quantity, const render::ValueRange& range, bool logarithmic) {
    return Legend{
        .quantity = quantity, .low = range.low, .high = range.high, .logarithmic = logarithmic, .colours = {}};
  };
  if (appearance.look == render::Look::density) return named("mass per area", ranges.mass_per_area, true);
  switch (appearance.colour_by) {
    case render::ColourBy::speed:
      return named("speed", ranges.speed, false);
    case render::ColourBy::mass:
      return named("mass", ranges.mass, true);
    case render::ColourBy::none:
      break;
  }
  return {};
}

}  // namespace

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera) {
  constexpr int samples = 32;
  Legend legend = scale_of(appearance, ranges);
  legend.world_per_height = camera.world_per_height();
  if (legend.quantity.empty()) return legend;
  const auto maps = render::colour_maps();
  const auto& map =
      maps[static_cast<std::size_t>(std::clamp(appearance.colour_map, 0, static_cast<int>(maps.size()) - 1))];
  const auto colour_of = appearance.look == render::Look::lights ? render::body_colour : render::density_colour;
  for (int i = 0; i < samples; ++i) {
    const glm::vec3 colour =
        render::srgb_from_linear(colour_of(map, static_cast<float>(i) / (samples - 1), appearance.theme));
    legend.colours.push_back({colour.r, colour.g, colour.b});
  }
  return legend;
}

}  // namespace orrery
