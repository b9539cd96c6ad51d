#version 450 core

// The light of each pixel: its sprites, and the splats around it. A splat's weights at its four nearest pixels are
// always 9, 3, 3 and 1 sixteenths, so that a body's peak and its light stay the same as it moves.
layout(local_size_x = 16, local_size_y = 16) in;

#include "texels.glsl"

uniform bool with_splats;
uniform float splat_quanta;   // per unit of light
uniform float sprite_quanta;  // per unit of light

layout(std430, binding = 0) readonly buffer Splats { TEXEL splats[]; };
layout(std430, binding = 1) readonly buffer Sprites { TEXEL sprites[]; };
layout(binding = 0) writeonly uniform image2D light;
uniform ivec2 values_at;  // of splats and of sprites: the texel from which the sums of further shares are; 0: none

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
