#include "render/passes/body_light.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>

#include "render/colour_map.h"

namespace orrery::render {
namespace {

constexpr float widest_share = 0.02f;          // largest sprite radius in framed radii, for few bodies
constexpr float usual_radius = 0.65f;          // sprite radius in units of framed radius / sqrt(count)
constexpr float brightness = 0.7f;             // pi times the mean over the framed ball's disc, for exposure 1
constexpr float brightest = 24.0f;             // middle of a sprite, so that few bodies do not saturate
constexpr float least_large_radius_px = 3.5f;  // twice least_radius_px of body.glsl
constexpr float mean_profile = 0.25f;          // of a sprite over its disc, see profile.glsl

/// Numbers of body.glsl.
struct ShownBy {
  static constexpr int computed = 0, none = 1, value = 2, part = 3;
};

int shown_by(const Appearance& appearance, unsigned values) {
  if (shows_values(appearance)) {
    return values == 0 ? ShownBy::none : shows_parts(appearance) ? ShownBy::part : ShownBy::value;
  }
  return appearance.colour_by->source == ColourBy::Source::computed ? ShownBy::computed : ShownBy::none;
}

void set_part_colours(const Program& program, Theme theme) {
  const auto colours = part_colours(theme);
  for (std::size_t i = 0; i < colours.size(); ++i)
    program.set("part_colours[" + std::to_string(i) + "]", linear_from_srgb(colours[i]));
  program.set("unknown_part_colour", linear_from_srgb(unknown_colour));
}

}  // namespace

BodyLight body_light(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                     const ValueRanges& ranges, int width, int height) {
  constexpr float pi = std::numbers::pi_v<float>;
  const auto across = static_cast<float>(width), up = static_cast<float>(height);
  const auto count = static_cast<float>(bodies.count);
  const float framed = camera.framed_radius();
  BodyLight light{};
  light.view = camera.view();
  light.projection = camera.projection(across / up);
  light.pixels_per_tangent = 0.5f * up * light.projection[1][1];
  light.radius = framed * std::min(usual_radius / std::sqrt(count), widest_share) * appearance.sprite_scale;
  light.large_radius_px = std::max(least_large_radius_px, 0.006f * std::min(across, up));
  // The light of the framed ball does not depend on the number of bodies.
  const float of_one = brightness * framed * framed / count;
  light.intensity = std::min(of_one / (mean_profile * pi * light.radius * light.radius), brightest);
  light.colour_by = shown_by(appearance, bodies.values);
  light.glsl = appearance.colour_by->glsl;
  const ColourScale scale = colour_scale(appearance, ranges);
  light.logarithmic = scale.logarithmic;
  light.colour_range = {scale.range.low, scale.range.high};
  if (scale.logarithmic) light.colour_range = glm::log(light.colour_range);
  light.theme = appearance.theme;
  light.normal_mass = ranges.mass.high;
  light.weigh_mass = appearance.look == Look::density;
  if (light.weigh_mass) light.intensity = ranges.mass.high / (mean_profile * pi * light.radius * light.radius);
  const float radius_px = light.radius * light.pixels_per_tangent / camera.distance();
  light.light_at_target = light.intensity * mean_profile * pi * radius_px * radius_px;
  return light;
}

const Program& BodyPrograms::of(const BodyLight& light) {
  if (light.colour_by != ShownBy::computed && !programs_.empty()) return programs_.front().second;
  const std::string_view glsl = light.colour_by == ShownBy::computed ? light.glsl : by_speed.glsl;
  for (const auto& [its, program] : programs_) {
    if (its == glsl) return program;
  }
  return programs_.emplace_back(glsl, make_("#define COMPUTED_VALUE " + std::string{glsl} + "\n")).second;
}

void set_body_place(const Program& program, const BodyLight& light) {
  program.set("view", light.view);
  program.set("projection", light.projection);
  program.set("pixels_per_tangent", light.pixels_per_tangent);
  program.set("radius", light.radius);
  program.set("normal_mass", light.normal_mass);
}

void set_body_light(const Program& program, const BodyLight& light) {
  set_body_place(program, light);
  program.set("weigh_mass", light.weigh_mass ? 1 : 0);
  program.set("intensity", light.intensity);
  program.set("colour_by", light.colour_by);
  program.set("colour_range", light.colour_range);
  program.set("logarithmic", light.logarithmic ? 1 : 0);
  if (light.colour_by == ShownBy::part) set_part_colours(program, light.theme);
}

}  // namespace orrery::render
