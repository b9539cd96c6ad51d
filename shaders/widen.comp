#version 450 core

// Adds the glow of the next wider level to a level.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2D wider;
layout(rgba16f, binding = 0) uniform image2D level;
uniform float own_share;  // of the level's light that stays

#include "tent.glsl"

const float wider_share = 0.7;

void main() {
  const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(level);
  if (any(greaterThanEqual(texel, size))) return;
  const vec4 light = own_share * imageLoad(level, texel) +
                     wider_share * tent(wider, (vec2(texel) + 0.5) / vec2(size), 1.0);
  imageStore(level, texel, light);
}
