// Copies pictures, and lays them over others. See render/passes/compose.h.

#section copy
layout(local_size_x = 16, local_size_y = 16) in;

layout(rgba8, binding = 0) readonly uniform image2D from;
layout(rgba8, binding = 1) writeonly uniform image2D to;

uniform int left;  // column of the canvas where the picture begins

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (all(lessThan(pixel, imageSize(from)))) imageStore(to, pixel + ivec2(left, 0), imageLoad(from, pixel));
}

#section blend
layout(local_size_x = 16, local_size_y = 16) in;

layout(rgba8, binding = 0) readonly uniform image2D picture;
layout(rgba8, binding = 1) uniform image2D canvas;

uniform ivec2 corner;  // lower left pixel of the part
uniform ivec2 size;

void main() {
  const ivec2 place = ivec2(gl_GlobalInvocationID.xy), pixel = corner + place;
  if (any(greaterThanEqual(place, size))) return;
  const vec4 above = imageLoad(picture, pixel);
  if (above.a > 0) imageStore(canvas, pixel, above + (1 - above.a) * imageLoad(canvas, pixel));
}

#section blend_vertex
// One triangle that covers the whole picture.
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1);
}

#section blend_fragment
layout(binding = 0) uniform sampler2D picture;

layout(location = 0) out vec4 colour;

void main() {
  colour = texelFetch(picture, ivec2(gl_FragCoord.xy), 0);
}
