#version 450 core

// Adds the sprites of the bodies that splat.comp listed: one work group for one body at a time.
layout(local_size_x = 32) in;

#include "body.glsl"
#include "profile.glsl"
#include "texels.glsl"

uniform int count;
uniform ivec2 size;    // of the picture in pixels
uniform float quanta;  // per unit of light
uniform int values_at;  // the texel from which the sums of the second and third share are; 0: there are none

layout(std430, binding = 0) readonly buffer Bodies { vec4 bodies[]; };  // all positions, then all velocities
layout(std430, binding = 3) readonly buffer Values { float values[]; };
layout(std430, binding = 1) buffer Sprites { TEXEL sprites[]; };
layout(std430, binding = 2) readonly buffer Large {
  uint large_count;
  uint large[];
};

void add_sprite(uint i) {
  Body body;
  if (!see(bodies[i], bodies[i + uint(count)], values_at > 0 ? values[i] : 0.0, body)) return;
  const vec2 middle = (0.5 + 0.5 * body.clip.xy / body.clip.w) * vec2(size) - 0.5;
  const float radius_px = drawn_radius_px(body.radius_px);
  const ivec2 first = ivec2(ceil(clamp(middle - radius_px, vec2(0.0), vec2(size))));
  const ivec2 last = ivec2(floor(clamp(middle + radius_px, vec2(-1.0), vec2(size - 1))));
  const ivec2 extent = last - first + 1;
  if (any(lessThan(extent, ivec2(1)))) return;
  const float peak = peak_of(body, radius_px);
  for (int k = int(gl_LocalInvocationID.x); k < extent.x * extent.y; k += int(gl_WorkGroupSize.x)) {
    const ivec2 pixel = first + ivec2(k % extent.x, k / extent.x);
    const vec2 offset = (vec2(pixel) - middle) / radius_px;
    const float light = peak * profile(dot(offset, offset));
    if (!(light > 0.0)) continue;
    const float turn = fract(float((i + uint(k)) & 0xffffu) * 0.618034);
    const uint sum = uint(light * quanta + turn);
    const uvec3 shares = uvec3(float(sum) * body.shares + turn);
    const int at = pixel.y * size.x + pixel.x;
    ADD(sprites[at], uvec2(sum, shares.x));
    if (values_at > 0) ADD(sprites[values_at + at], shares.yz);
  }
}

void main() {
  for (uint k = gl_WorkGroupID.x; k < large_count; k += gl_NumWorkGroups.x) add_sprite(large[k]);
}
