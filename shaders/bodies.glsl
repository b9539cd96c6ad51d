// Draws bodies as sprites, and finds the body at a place of the picture. See render/passes/body_renderer.h.

#section usable
// Returns false for NaN, too. Compares integers, because compilers may invert a comparison of floats and forget NaN.
bool usable(vec4 v) { return all(lessThan(floatBitsToUint(v) & 0x7fffffffu, uvec4(floatBitsToUint(1e18)))); }

#section body
// A body as the camera sees it: code that sprites and splats share. See render/passes/body_renderer.h.
uniform mat4 view;
uniform mat4 projection;
uniform float pixels_per_tangent;  // a length at a depth covers this many pixels times length / depth
uniform bool weigh_mass;           // whether a body's light is its mass per area of a pixel
uniform float intensity;           // maximum light of a pixel in the middle of a sprite
uniform float radius;              // radius of a body's sprite, in world units
uniform float large_radius_px;     // above this radius, sprites grow with the square root of their nearness
uniform int colour_by;             // 0: COMPUTED_VALUE, 1: none, 2: value, 3: part
uniform vec2 colour_range;         // values, or their logarithms, of the first and the last colour
uniform bool logarithmic;
uniform float normal_mass;         // mass of a body with a sprite of normal size
uniform vec3 part_colours[8];
uniform vec3 unknown_part_colour;

// A smaller radius in pixels would let a sprite miss pixel centres and flicker as it moves.
const float least_radius_px = 1.75;

struct Body {
  vec4 clip;        // clip coordinates
  float radius_px;  // radius of its sprite before drawn_radius_px(), > 0
  float light;      // sum of the body's light over all its pixels
  // Shares of the light that are summed up. If values are shown: the body's place in the colour map, 0 to 1, and 1 if
  // its value is unknown. If parts are shown: the colour of its part.
  vec3 shares;
};

#include "#usable"

// Returns the place of a value in the colour map, 0 to 1.
float place_of(float value) {
  const float at = logarithmic ? log(max(value, 1e-37)) : value;
  return clamp((at - colour_range.x) / max(colour_range.y - colour_range.x, 1e-37), 0.0, 1.0);
}

#ifndef COMPUTED_VALUE
#define COMPUTED_VALUE 0.0  // ColourBy::glsl in programs that draw; others need no colours
#endif

vec3 shares_of(vec4 position, vec4 velocity, float value) {
  if (colour_by == 1) return vec3(1.0, 0.0, 0.0);
  const bool known = (floatBitsToUint(value) & 0x7fffffffu) <= 0x7f800000u;  // not NaN
  if (colour_by == 3) return known ? part_colours[clamp(int(value), 0, 7)] : unknown_part_colour;
  if (colour_by == 2) return known ? vec3(place_of(value), 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
  const vec3 sight = -vec3(view[0].z, view[1].z, view[2].z);
  return vec3(place_of(COMPUTED_VALUE), 0.0, 0.0);
}

// Returns the sum over the pixels of a sprite whose middle has a light of 1, see profile().
float disc_light(float radius_px) { return 0.25 * 3.14159265 * radius_px * radius_px; }

// Returns false if the body is behind the camera or has a number that is not usable. `position` has the mass in w.
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

// Returns the radius with which a body is drawn. That of a large body is reduced: a very near one would cover the
// picture.
float drawn_radius_px(float radius_px) {
  return radius_px > large_radius_px ? sqrt(radius_px * large_radius_px) : max(radius_px, least_radius_px);
}

// Returns the light in the middle of a sprite that is drawn with a radius of `drawn_px`.
float peak_of(Body body, float drawn_px) {
  const float peak = body.light / disc_light(drawn_px);
  return weigh_mass ? peak : min(peak, intensity);
}

#section profile
// Returns the light of a sprite at a distance from its middle. `square`: (distance / radius)^2. Its mean over the disc
// is a quarter.
float profile(float square) {
  const float inside = max(1.0 - square, 0.0);
  return inside * inside * inside;
}

#section sprite_vertex
layout(location = 0) in vec4 position;  // mass in w
layout(location = 1) in vec4 velocity;
layout(location = 2) in float value;

#include "#body"

flat out vec4 peak;  // light in the middle, and this light times the body's shares

void main() {
  Body body;
  if (!see(position, velocity, value, body)) {
    peak = vec4(0.0);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);  // outside the clip volume
    gl_PointSize = 1.0;
    return;
  }
  const float radius_px = drawn_radius_px(body.radius_px);
  peak = peak_of(body, radius_px) * vec4(1.0, body.shares);
  gl_Position = body.clip;
  gl_PointSize = 2.0 * radius_px;
}

#section sprite_fragment
flat in vec4 peak;

layout(location = 0) out vec4 light;  // as many components as the image has

#include "#profile"

void main() {
  const vec2 offset = 2.0 * gl_PointCoord - 1.0;
  light = peak * profile(dot(offset, offset));
}

#section pick
// Finds the body at a place of the picture by the rule of Pick in render/passes/body_renderer.h. Each stage takes one
// minimum of 32 bits over the bodies that have the minima of the earlier stages.
layout(local_size_x = 256) in;

#include "#body"

const int nearest = 0, front = 1;  // the last stage takes the lowest index
const float steps_per_px = 4.0;    // places within one step count as the same

uniform int stage;
uniform int first;   // index of positions[0] among all bodies
uniform int count;   // number of bodies in `positions`
uniform vec2 size;   // size of the picture in pixels
uniform vec2 place;  // in pixels, from the picture's lower left corner
uniform float reach_px;

layout(std430, binding = 0) readonly buffer Positions { vec4 positions[]; };
layout(std430, binding = 1) buffer Found {
  uint least_distance;
  uint least_depth;
  uint least_index;
};

void examine(uint i) {
  Body body;
  if (!see(positions[i], vec4(0.0), 0.0, body)) return;
  const vec2 middle = (0.5 + 0.5 * body.clip.xy / body.clip.w) * size;
  const float bright_px = 0.5 * drawn_radius_px(body.radius_px);
  const float outside = max(distance(middle, place) - bright_px, 0.0);
  if (!(outside <= reach_px)) return;
  const uint steps = uint(outside * steps_per_px), depth = floatBitsToUint(body.clip.w);
  if (stage == nearest) {
    atomicMin(least_distance, steps);
  } else if (steps <= least_distance) {
    if (stage == front) {
      atomicMin(least_depth, depth);
    } else if (depth <= least_depth) {
      atomicMin(least_index, uint(first) + i);
    }
  }
}

void main() {
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) examine(i);
}

#section read
// Copies positions and velocities of some bodies from one part of the drawn buffer.
layout(local_size_x = 64) in;

uniform int count;   // number of all bodies
uniform int wanted;  // number of bodies to copy
uniform int begin;   // index of part[0] in the drawn buffer
uniform int held;    // number of entries in `part`

layout(std430, binding = 0) readonly buffer Part { vec4 part[]; };  // all positions, then all velocities
layout(std430, binding = 1) readonly buffer Indices { int indices[]; };
layout(std430, binding = 2) writeonly buffer Copies { vec4 copies[]; };  // position and velocity of each copied body

void main() {
  const int k = int(gl_GlobalInvocationID.x);
  if (k >= wanted) return;
  for (int which = 0; which < 2; ++which) {
    const int at = indices[k] + which * count - begin;
    if (at >= 0 && at < held) copies[2 * k + which] = part[at];
  }
}
