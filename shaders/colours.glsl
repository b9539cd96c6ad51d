layout(binding = 2) uniform sampler2D colours;  // one row per colour map, from its low to its high end
uniform int colour_map;

// `share` is 0 to 1 from the low to the high end. A row has so many colours that the nearest one does.
vec3 mapped_colour(float share) {
  const float last = float(textureSize(colours, 0).x - 1);
  return texelFetch(colours, ivec2(int(share * last + 0.5), colour_map), 0).rgb;
}
