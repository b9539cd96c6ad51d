// Adds up the light of bodies in integers. See Splats in render/passes/body_renderer.h.

#section texels
// Two sums in one 64-bit texel, in units of 1 / quanta: light and its first share, or its second and third share (see
// bodies.glsl#body). Integers add up to the same picture in any order. Drivers without 64-bit atomics add the two
// halves separately.
#ifdef ATOMIC_INT64
#define TEXEL uint64_t
#define ADD(texel, sums) atomicAdd(texel, packUint2x32(sums))
#define SUMS(texel) unpackUint2x32(texel)
#define ZERO uint64_t(0)
#else
#define TEXEL uvec2
#define ADD(texel, sums) (atomicAdd(texel.x, (sums).x), atomicAdd(texel.y, (sums).y))
#define SUMS(texel) (texel)
#define ZERO uvec2(0)
#endif

#section clear
// Sets all used texels and the list of large bodies to zero. The driver's own clear takes ten times as long.
layout(local_size_x = 256) in;

#include "#texels"

uniform bool with_splats;

layout(std430, binding = 0) writeonly buffer Splats { TEXEL splats[]; };
layout(std430, binding = 1) writeonly buffer Sprites { TEXEL sprites[]; };
layout(std430, binding = 2) writeonly buffer Large {
  uint large_count;
  uint large[];
};

void main() {
  const uint first = gl_GlobalInvocationID.x, stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = first; with_splats && i < uint(splats.length()); i += stride) splats[i] = ZERO;
  for (uint i = first; i < uint(sprites.length()); i += stride) sprites[i] = ZERO;
  if (first == 0u) large_count = 0u;
}

#section splat
// Adds the light of each small body to one texel of an image of twice the picture's width and height; #gather spreads
// it over four pixels. Lists the bodies that become sprites.
layout(local_size_x = 256) in;

#include "bodies.glsl#body"
#include "#texels"

uniform int count;
uniform ivec2 size;        // size of the picture in pixels
uniform float quanta;      // quanta per unit of light
uniform bool with_splats;  // otherwise, all bodies are sprites
uniform int values_at;  // first texel with sums of the second and third share; 0: there are none

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
  // Rounding up or down by turns keeps the mean if a body has few quanta.
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

#section large
// Adds the sprites of the bodies that #splat listed. A work group adds one body at a time.
layout(local_size_x = 32) in;

#include "bodies.glsl#body"
#include "bodies.glsl#profile"
#include "#texels"

uniform int count;
uniform ivec2 size;    // size of the picture in pixels
uniform float quanta;  // quanta per unit of light
uniform int values_at;  // first texel with sums of the second and third share; 0: there are none

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

#section gather
// Computes the light of each pixel from its sprites and the splats around it. A splat's weights at its four nearest
// pixels are always 9, 3, 3 and 1 sixteenths. So a body's peak and its light stay the same as it moves.
layout(local_size_x = 16, local_size_y = 16) in;

#include "#texels"

uniform bool with_splats;
uniform float splat_quanta;   // quanta per unit of light
uniform float sprite_quanta;  // quanta per unit of light

layout(std430, binding = 0) readonly buffer Splats { TEXEL splats[]; };
layout(std430, binding = 1) readonly buffer Sprites { TEXEL sprites[]; };
layout(binding = 0) writeonly uniform image2D light;
uniform ivec2 values_at;  // first texels with sums of further shares, of splats and of sprites; 0: none

vec4 splat_sums(int at) {
  return vec4(SUMS(splats[at]), values_at.x > 0 ? SUMS(splats[values_at.x + at]) : uvec2(0));
}
vec4 sprite_sums(int at) {
  return vec4(SUMS(sprites[at]), values_at.y > 0 ? SUMS(sprites[values_at.y + at]) : uvec2(0));
}

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(light);
  if (any(greaterThanEqual(pixel, size))) return;
  vec4 splatted = vec4(0.0);
  for (int y = -1; with_splats && y <= 2; ++y) {
    for (int x = -1; x <= 2; ++x) {
      const ivec2 texel = 2 * pixel + ivec2(x, y);
      if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, 2 * size))) continue;
      const float weight = (x == 0 || x == 1 ? 0.75 : 0.25) * (y == 0 || y == 1 ? 0.75 : 0.25);
      splatted += weight * splat_sums(texel.y * 2 * size.x + texel.x);
    }
  }
  imageStore(light, pixel, splatted / splat_quanta + sprite_sums(pixel.y * size.x + pixel.x) / sprite_quanta);
}
