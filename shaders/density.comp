#version 450 core

// Mass per area to a picture.
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D density;
layout(rgba8, binding = 0) writeonly uniform image2D picture;
uniform vec2 range;  // of the density or its logarithm, with the first and the last colour
uniform bool logarithmic;

#include "colours.glsl"
#include "encode.glsl"

void main() {
  const ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(pixel, imageSize(picture)))) return;
  const float value = texelFetch(density, pixel, 0).r;
  const float at = logarithmic ? log(max(value, 1e-30)) : value;
  const float share = clamp((at - range.x) / (range.y - range.x), 0.0, 1.0);
  imageStore(picture, pixel, encoded(mapped_colour(share), pixel));
}
