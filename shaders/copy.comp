#version 450 core

layout(local_size_x = 16, local_size_y = 16) in;

layout(rgba8, binding = 0) readonly uniform image2D from;
layout(rgba8, binding = 1) writeonly uniform image2D to;

uniform int left;  // where the picture begins on the canvas

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (all(lessThan(pixel, imageSize(from)))) imageStore(to, pixel + ivec2(left, 0), imageLoad(from, pixel));
}
