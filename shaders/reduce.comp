#version 450 core

// A smaller, softer image of the light: each texel covers `ratio` x `ratio` of the source, 4 or 2.
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0) uniform sampler2D source;
layout(rgba16f, binding = 0) writeonly uniform image2D reduced;
uniform int ratio;

#include "nine_samples.glsl"

const float hottest = 3e4;  // what half floats still add up

void main() {
  const ivec2 texel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(reduced);
  if (any(greaterThanEqual(texel, size))) return;
  const vec2 place = float(ratio) * (vec2(texel) + 0.5);
  // Between halves these are the weights 1, 5, 10, 10, 5, 1: wherever a body is in a texel, the texels around get its
  // light with the same centre, width and symmetry, so that its glow is round and moves smoothly with it.
  const vec4 light = ratio == 2 ? nine_samples(source, place, vec3(-1.0, 0.0, 1.0) * (5.0 / 3.0),
                                               vec3(3.0, 10.0, 3.0) / 16.0, vec2(1.0))
                                : nine_samples(source, place, vec3(-2.0, 0.0, 2.0), vec3(1.0, 2.0, 1.0) / 4.0, vec2(1.0));
  imageStore(reduced, texel, min(light, vec4(hottest)));
}
