#version 450 core

// Sets all texels that are used and the list of large bodies to zero. The driver's own clear takes ten times as long.
layout(local_size_x = 256) in;

#include "texels.glsl"

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
