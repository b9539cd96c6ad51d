#version 450 core

// Adds the mass of the bodies to the cells of the grid.
layout(local_size_x = 256) in;

#include "usable.glsl"
#include "centre.glsl"
#include "cluster.glsl"

uniform int count;  // of the bodies in `positions`

layout(std430, binding = 0) readonly buffer Positions { vec4 positions[]; };

void examine(uint i) {
  const vec4 position = positions[i];
  if (!counts(position)) return;
  const vec3 place = floor(in_cells(position.xyz));
  if (any(lessThan(place, vec3(0.0))) || any(greaterThanEqual(place, vec3(side)))) return;
  atomicAdd(cells[index_of(uvec3(place))], uint(quanta * min(position.w / mass, 1.0) + 0.5));
}

void main() {
  if (stopped != 0u || !(scene.w > 0.0)) return;
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) examine(i);
}
