#version 450 core

// Adds the light of each small body to one texel of an image of twice the picture's width and height; gather.comp
// spreads it over four pixels. Lists the bodies that are to be sprites.
layout(local_size_x = 256) in;

#include "body.glsl"
#include "texels.glsl"

uniform int count;
uniform ivec2 size;        // of the picture in pixels
uniform float quanta;      // per unit of light
uniform bool with_splats;  // else all bodies are sprites
uniform int values_at;  // the texel from which the sums of the second and third share are; 0: there are none

layout(std430, binding = 0) readonly buffer Bodies { vec4 bodies[]; };  // all positions, then all velocities
layout(std430, binding = 3) readonly buffer Values { float values[]; };
layout(std430, binding = 1) buffer Splats { TEXEL splats[]; };
layout(std430, binding = 2) buffer Large {
  uint large_count;
  uint large[];
};

void add_body(uint i) {
  Body body;
  if (!see(bodies[i], bodies[i + uint(count)], values_at > 0 ? values[i] : 0.0, body)) return;
  if (!with_splats || body.radius_px >= least_radius_px) {
    large[atomicAdd(large_count, 1u)] = i;
    return;
  }
  const vec2 place = 0.5 + 0.5 * body.clip.xy / body.clip.w;
  if (any(lessThan(place, vec2(0.0))) || any(greaterThanEqual(place, vec2(1.0)))) return;
  const ivec2 texel = min(ivec2(place * vec2(2 * size)), 2 * size - 1);
  // Rounding up or down by turns keeps the mean where a body has few quanta.
  const float turn = fract(float(i & 0xffffu) * 0.618034);
  const uint sum = uint(body.light * quanta + turn);
  const uvec3 shares = uvec3(float(sum) * body.shares + turn);
  const int at = texel.y * 2 * size.x + texel.x;
  ADD(splats[at], uvec2(sum, shares.x));
  if (values_at > 0) ADD(splats[values_at + at], shares.yz);
}

void main() {
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) add_body(i);
}
