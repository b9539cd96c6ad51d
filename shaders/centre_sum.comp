#version 450 core

// Sums over the bodies in the ball: one sum for each group.
layout(local_size_x = 256) in;

#include "usable.glsl"
#include "centre.glsl"
#include "centre_sums.glsl"

uniform int count;        // of the bodies in `positions`
uniform int part;         // of the scene; -1: all bodies
uniform int first_group;  // place of the first sum

layout(std430, binding = 0) readonly buffer Positions { vec4 positions[]; };
layout(std430, binding = 1) readonly buffer Parts { uint parts[]; };  // a byte for each body

bool has_part(uint i) { return part < 0 || (parts[i >> 2] >> 8u * (i & 3u) & 255u) == uint(part); }

void examine(uint i, inout Sums own) {
  const vec4 position = positions[i];
  if (!counts(position) || !has_part(i)) return;
  const vec3 from_middle = position.xyz - ball.xyz;
  const float away = length(from_middle);
  if (away <= ball.w) add(own, Sums(position.w * vec4(from_middle, 1.0), position.w * away, 1u));
}

void sum_up() {
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  Sums own = Sums(vec4(0.0), 0.0, 0u);
  for (uint i = gl_GlobalInvocationID.x; i < uint(count); i += stride) examine(i, own);
  const Sums all = total_of(own);
  if (gl_LocalInvocationIndex == 0u) partial[uint(first_group) + gl_WorkGroupID.x] = all;
}

void main() {
  if (stopped == 0u) sum_up();
}
