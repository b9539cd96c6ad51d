#version 450 core

// Adds the glow of the next wider level to a level.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2D wider;
layout(rgba16f, binding = 0) uniform image2D level;
uniform float own_share;  // of the level's light that stays

#include "nine_samples.glsl"

const float wider_share = 0.7;

void main() {
  const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(level);
  if (any(greaterThanEqual(texel, size))) return;
  // The quintic B-spline of the wider level, nearly a round Gaussian, at a quarter of a wider texel from its centre: six
  // weights along each axis, as three bilinear samples.
  const vec2 side = vec2(texel & 1) * 2.0 - 1.0;
  const vec4 glow = nine_samples(wider, 0.5 * (vec2(texel) + 0.5), vec3(-1.2655849, 0.1370095, 1.7503205),
                                 vec3(0.1268880, 0.8477214, 0.0253906), side);
  imageStore(level, texel, own_share * imageLoad(level, texel) + wider_share * glow);
}
