#version 450 core

// Finds the body at a place of the picture by the rule of render/passes/pick.h. Each stage takes one minimum of 32 bits
// over the bodies that have the minima of the stages before it.
layout(local_size_x = 256) in;

#include "body.glsl"

const int nearest = 0, front = 1;  // the last stage takes the lowest index
const float steps_per_px = 4.0;    // closer places count as the same

uniform int stage;
uniform int first;   // index of positions[0] among all bodies
uniform int count;   // of the bodies in `positions`
uniform vec2 size;   // of the picture in pixels
uniform vec2 place;  // in pixels, from the picture's lower left corner
uniform float reach_px;

layout(std430, binding = 0) readonly buffer Positions { vec4 positions[]; };
layout(std430, binding = 1) buffer Found {
  uint least_distance;
  uint least_depth;
  uint least_index;
};

void examine(uint i) {
  Body body;
  if (!see(positions[i], vec4(0.0), 0.0, body)) return;
  const vec2 middle = (0.5 + 0.5 * body.clip.xy / body.clip.w) * size;
  const float bright_px = 0.5 * drawn_radius_px(body.radius_px);
  const float outside = max(distance(middle, place) - bright_px, 0.0);
  if (!(outside <= reach_px)) return;
  const uint steps = uint(outside * steps_per_px), depth = floatBitsToUint(body.clip.w);
  if (stage == nearest) {
    atomicMin(least_distance, steps);
  } else if (steps <= least_distance) {
    if (stage == front) {
      atomicMin(least_depth, depth);
    } else if (depth <= least_depth) {
      atomicMin(least_index, uint(first) + i);
    }
  }
}

void main() {
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) examine(i);
}
