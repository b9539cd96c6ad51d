// A body as the camera sees it: what sprites and splats have in common. See render/passes/body_renderer.h.
uniform mat4 view;
uniform mat4 projection;
uniform float pixels_per_tangent;  // a length at a depth covers length / depth of these
uniform bool weigh_mass;           // a body's light is its mass per area of a pixel
uniform float intensity;           // light of a pixel in the middle of a sprite; a sprite has no more
uniform float radius;              // of a body's sprite, in world units
uniform float large_radius_px;     // from here on sprites grow with the root of their nearness
uniform int colour_by;             // 0: COMPUTED_VALUE, 1: none, 2: value, 3: part
uniform vec2 colour_range;         // of the value or its logarithm, with the first and the last colour
uniform bool logarithmic;
uniform float normal_mass;         // of a body with a sprite of normal size
uniform vec3 part_colours[8];
uniform vec3 unknown_part_colour;

// Below this radius in pixels a sprite would miss pixel centres and flicker as it moves.
const float least_radius_px = 1.75;

struct Body {
  vec4 clip;        // clip coordinates
  float radius_px;  // by its own size, > 0
  float light;      // sum over all its pixels
  // Shares of the light that are summed up. If values are shown: the body's place in the colour map, 0 to 1, and 1 if
  // its value is unknown. If parts are shown: the colour of its part.
  vec3 shares;
};

#include "usable.glsl"

// The place of a value in the colour map.
float place_of(float value) {
  const float at = logarithmic ? log(max(value, 1e-37)) : value;
  return clamp((at - colour_range.x) / max(colour_range.y - colour_range.x, 1e-37), 0.0, 1.0);
}

#ifndef COMPUTED_VALUE
#define COMPUTED_VALUE 0.0  // ColourBy::glsl in programs that draw; others need no colours
#endif

vec3 shares_of(vec4 position, vec4 velocity, float value) {
  if (colour_by == 1) return vec3(1.0, 0.0, 0.0);
  const bool known = (floatBitsToUint(value) & 0x7fffffffu) <= 0x7f800000u;  // no NaN
  if (colour_by == 3) return known ? part_colours[clamp(int(value), 0, 7)] : unknown_part_colour;
  if (colour_by == 2) return known ? vec3(place_of(value), 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
  const vec3 sight = -vec3(view[0].z, view[1].z, view[2].z);
  return vec3(place_of(COMPUTED_VALUE), 0.0, 0.0);
}

// The sum over the pixels of a sprite whose middle has a light of 1, see profile.glsl.
float disc_light(float radius_px) { return 0.25 * 3.14159265 * radius_px * radius_px; }

// False if the body is behind the camera or has a number that is not finite. `position` has the mass in w.
bool see(vec4 position, vec4 velocity, float value, out Body body) {
  const vec4 seen = view * vec4(position.xyz, 1.0);
  if (!usable(position) || !usable(velocity) || !(seen.z < 0.0)) return false;
  const float pixels_per_unit = pixels_per_tangent / -seen.z;
  const float bulk = clamp(pow(max(position.w, 0.0) / max(normal_mass, 1e-30), 1.0 / 3.0), 0.5, 4.0);
  body.clip = projection * seen;
  body.radius_px = radius * bulk * pixels_per_unit;
  body.light = weigh_mass ? max(position.w, 0.0) * pixels_per_unit * pixels_per_unit
                          : intensity * disc_light(body.radius_px);
  body.shares = shares_of(position, velocity, value);
  return true;
}

// The radius in which a large body is drawn: a very near one would cover the picture.
float drawn_radius_px(float radius_px) {
  return radius_px > large_radius_px ? sqrt(radius_px * large_radius_px) : max(radius_px, least_radius_px);
}

// Light in the middle of a sprite that is drawn with a radius.
float peak_of(Body body, float drawn_px) {
  const float peak = body.light / disc_light(drawn_px);
  return weigh_mass ? peak : min(peak, intensity);
}
