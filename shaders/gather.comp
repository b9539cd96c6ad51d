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
layout(rg32f, binding = 0) writeonly uniform image2D light;

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(light);
  if (any(greaterThanEqual(pixel, size))) return;
  vec2 splatted = vec2(0.0);
  for (int y = -1; with_splats && y <= 2; ++y) {
    for (int x = -1; x <= 2; ++x) {
      const ivec2 texel = 2 * pixel + ivec2(x, y);
      if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, 2 * size))) continue;
      const float weight = (x == 0 || x == 1 ? 0.75 : 0.25) * (y == 0 || y == 1 ? 0.75 : 0.25);
      splatted += weight * vec2(SUMS(splats[texel.y * 2 * size.x + texel.x]));
    }
  }
  const vec2 sum = splatted / splat_quanta + vec2(SUMS(sprites[pixel.y * size.x + pixel.x])) / sprite_quanta;
  imageStore(light, pixel, vec4(sum, 0.0, 0.0));
}
