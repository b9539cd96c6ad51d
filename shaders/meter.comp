#version 450 core

// Counts the lit pixels of an image of light by the logarithm of their light.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D light;

#include "exposure.glsl"

shared uint counts[bins];

void main() {
  const uint thread = gl_LocalInvocationIndex;
  if (thread < bins) counts[thread] = 0u;
  barrier();
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  const float seen = all(lessThan(pixel, textureSize(light, 0))) ? texelFetch(light, pixel, 0).r : 0.0;
  if (seen > dark) atomicAdd(counts[clamp(int(bins_per_octave * log2(seen / dark)), 0, int(bins) - 1)], 1u);
  barrier();
  const uint bin = min(thread, bins - 1u);  // drivers may read a count before they ask whether there is one
  if (thread < bins && counts[bin] > 0u) atomicAdd(histogram[bin], counts[bin]);
}
