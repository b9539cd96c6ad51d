#version 450 core

// Finds the block of cells with most mass; of several, the first one.
layout(local_size_x = 256) in;

#include "usable.glsl"
#include "centre.glsl"
#include "cluster.glsl"

uniform int stage;  // 0: its mass, 1: its place

void main() {
  const uint i = gl_GlobalInvocationID.x;
  const uint sum = mass_of_block(uvec3(i % side, i / side % side, i / (side * side)));
  if (sum == 0u) return;
  if (stage == 0) {
    atomicMax(best_mass, sum);
  } else if (sum == best_mass) {
    atomicMin(best_block, i);
  }
}
