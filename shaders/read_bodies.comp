#version 450 core

// Copies positions and velocities of some bodies from a part of the drawn buffer.
layout(local_size_x = 64) in;

uniform int count;   // of all bodies
uniform int wanted;  // of them
uniform int begin;   // index of part[0] in the drawn buffer
uniform int held;    // entries of `part`

layout(std430, binding = 0) readonly buffer Part { vec4 part[]; };  // all positions, then all velocities
layout(std430, binding = 1) readonly buffer Indices { int indices[]; };
layout(std430, binding = 2) writeonly buffer Copies { vec4 copies[]; };  // position and velocity of each

void main() {
  const int k = int(gl_GlobalInvocationID.x);
  if (k >= wanted) return;
  for (int which = 0; which < 2; ++which) {
    const int at = indices[k] + which * count - begin;
    if (at >= 0 && at < held) copies[2 * k + which] = part[at];
  }
}
