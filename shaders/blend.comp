#version 450 core

layout(local_size_x = 16, local_size_y = 16) in;

layout(rgba8, binding = 0) readonly uniform image2D picture;
layout(rgba8, binding = 1) uniform image2D canvas;

uniform ivec2 corner;  // the part's lower left
uniform ivec2 size;

void main() {
  const ivec2 place = ivec2(gl_GlobalInvocationID.xy), pixel = corner + place;
  if (any(greaterThanEqual(place, size))) return;
  const vec4 above = imageLoad(picture, pixel);
  if (above.a > 0) imageStore(canvas, pixel, above + (1 - above.a) * imageLoad(canvas, pixel));
}
