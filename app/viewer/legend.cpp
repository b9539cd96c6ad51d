#include "app/viewer/legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/panels/kit/format.h"
#include "app/panels/physical.h"
#include "app/viewer/body_values.h"
#include "render/colour_map.h"
#include "render/colour_scale.h"

namespace orrery {

namespace {

struct Quantity {
  const char *name = "", *unit = "";
  std::optional<Dimension> dimension{};
};

Quantity quantity_of(const render::Appearance& appearance) {
  if (appearance.look == render::Look::density) {
    return {"mass per area", "mass / length\u00b2", Dimension::mass_per_area};
  }
  switch (appearance.colour_by) {
    case render::ColourBy::speed:
      return {"speed", "length / time", Dimension::velocity};
    case render::ColourBy::mass:
      return {"mass", "mass", Dimension::mass};
    case render::ColourBy::acceleration:
      return {"acceleration", "length / time\u00b2", Dimension::acceleration};
    case render::ColourBy::species:
      return {"part of the scene"};
    case render::ColourBy::local_density:
      return {"local density", "mass / length\u00b3", Dimension::density};
    case render::ColourBy::force_error:
      return {"force error", "relative"};
    case render::ColourBy::time_step_class:
      return {"suitable time step", "time", Dimension::time};
    case render::ColourBy::distance:
      return {"distance of A from B", "length", Dimension::length};
    case render::ColourBy::domain:
      return {"domain"};
    case render::ColourBy::none:
      break;
  }
  return {};
}

SrgbColour colour_at(const render::Appearance& appearance, float at) {
  const auto& map = render::colour_maps()[static_cast<std::size_t>(render::shown_colour_map(appearance))];
  const auto colour_of = appearance.look == render::Look::lights ? render::body_colour : render::density_colour;
  const glm::vec3 colour = render::srgb_from_linear(colour_of(map, at, appearance.theme));
  return {colour.r, colour.g, colour.b};
}

/// If there are more names than colours, the first of those that share a colour.
void name_parts(Legend& legend, std::span<const std::string> names, const char* without_names, render::Theme theme) {
  const auto colours = render::part_colours(theme);
  const std::size_t count = std::max<std::size_t>(names.size(), 1);
  for (std::size_t i = 0; i < std::min(count, colours.size()); ++i) {
    const glm::vec3 colour = colours[i];
    const char* const more = i + colours.size() < count ? ", ..." : "";
    legend.parts.push_back({names.empty() ? without_names : names[i] + more, {colour.r, colour.g, colour.b}});
  }
}

/// A power of two times dt.
std::string class_name(int exponent) {
  if (exponent == 0) return "dt";
  return exponent < 0 ? fmt::format("dt / {}", 1LL << -exponent) : fmt::format("{} dt", 1LL << exponent);
}

}  // namespace

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera) {
  constexpr int samples = 32;
  const Quantity quantity = quantity_of(appearance);
  const render::ColourScale scale = render::colour_scale(appearance, ranges);
  Legend legend{.quantity = quantity.name,
                .low = scale.range.low,
                .high = scale.range.high,
                .logarithmic = scale.logarithmic,
                .colours = {},
                .unit = quantity.unit,
                .dimension = quantity.dimension};
  legend.world_per_height = camera.world_per_height();
  if (legend.quantity.empty() || render::shows_parts(appearance)) return legend;
  for (int i = 0; i < samples; ++i) {
    legend.colours.push_back(colour_at(appearance, static_cast<float>(i) / (samples - 1)));
  }
  return legend;
}

void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step) {
  constexpr float rounding = 1e-3f;  // of the ends, in classes
  const render::ColourScale scale = render::colour_scale(appearance, ranges);
  const auto place = [&](float value) { return std::log2(value / time_step); };
  const int first = static_cast<int>(std::ceil(place(std::max(scale.range.low, 1e-30f)) - rounding));
  const int last = static_cast<int>(std::floor(place(scale.range.high) + rounding));
  if (last < first || last - first > 2 * most_step_doublings) return;
  legend.colours.clear();
  for (int exponent = first; exponent <= last; ++exponent) {
    legend.colours.push_back(colour_at(appearance, scale.place(std::ldexp(time_step, exponent))));
  }
  legend.low = std::ldexp(time_step, first);
  legend.high = std::ldexp(time_step, last);
  legend.low_class = class_name(first);
  legend.high_class = class_name(last);
}

void describe_only_value(Legend& legend, const char* whose, float value, const std::optional<Units>& units) {
  if (legend.colours.empty()) return;
  const bool has_units = units && legend.dimension;
  const ShownUnit unit = has_units ? shown_unit(units, *legend.dimension, value) : ShownUnit{};
  const std::string name = has_units ? unit.name : legend.unit.empty() ? "" : " " + legend.unit;
  const float place = render::ColourScale{{legend.low, legend.high}, legend.logarithmic}.place(value);
  const auto last = static_cast<float>(legend.colours.size() - 1);
  const float at = place > 0 ? std::round(std::min(place, 1.0f) * last) : 0;
  legend.parts = {{fmt::format("{} bodies: {}{}", whose, format_value(value / unit.size), name),
                   legend.colours[static_cast<std::size_t>(at)]}};
  legend.colours.clear();
}

void describe_no_values(Legend& legend, std::string why) {
  legend.colours.clear();
  legend.note = std::move(why);
}

void describe_parts(Legend& legend, const Parts& parts, render::Theme theme) {
  name_parts(legend, parts.names, "all bodies", theme);
}

void describe_domains(Legend& legend, const Domains* domains, render::Theme theme) {
  if (!domains) return describe_no_values(legend, "not known yet");
  const BodyOwners& owners = domains->owners;
  if (!owners.why_unknown.empty()) return describe_no_values(legend, owners.why_unknown);
  name_parts(legend, owners.names, "all bodies: one domain", theme);
}

}  // namespace orrery
