#include "render/colour_scale.h"

#include <algorithm>
#include <cmath>

namespace orrery::render {
namespace {

constexpr float least_ratio = 1e-6f;  // of the ends of a logarithmic scale that begins at 0

const ValueRange& range_of(const Appearance& appearance, const ValueRanges& ranges) {
  if (appearance.look == Look::density) return ranges.mass_per_area;
  if (shows_values(appearance)) return ranges.value;
  return appearance.colour_by == ColourBy::speed ? ranges.speed : ranges.mass;
}

bool is_logarithmic(const Appearance& appearance) {
  if (appearance.scale != Scale::automatic) return appearance.scale == Scale::logarithmic;
  if (appearance.low && !(*appearance.low > 0)) return false;
  return appearance.look == Look::density || appearance.colour_by != ColourBy::speed;
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
  if (!(high > low)) (appearance.high ? low : high) = appearance.high ? 0.5f * high : 2 * low;  // a fixed end stays
  if (!(high > low)) high = low + 1;
  if (scale.logarithmic) low = std::max(low, high * least_ratio);
  return scale;
}

}  // namespace orrery::render
