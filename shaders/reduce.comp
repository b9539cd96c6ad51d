#version 450 core

// A smaller, softer image of the light.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2D source;
layout(rgba16f, binding = 0) writeonly uniform image2D reduced;

#include "tent.glsl"

const float hottest = 3e4;  // what half floats still add up

void main() {
  const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(reduced);
  if (any(greaterThanEqual(texel, size))) return;
  // Samples lie half a written texel apart: a body's glow moves smoothly with it.
  const float texels_read = float(textureSize(source, 0).x) / float(size.x);
  const vec4 light = tent(source, (vec2(texel) + 0.5) / vec2(size), 0.5 * texels_read);
  imageStore(reduced, texel, min(light, vec4(hottest)));
}
