// A weighted mean of nine bilinear samples around `place`, in texels of the source: at `offsets` along each axis, in the
// direction `side`.
vec4 nine_samples(sampler2D source, vec2 place, vec3 offsets, vec3 weights, vec2 side) {
  const vec2 texel = 1.0 / vec2(textureSize(source, 0));
  vec4 sum = vec4(0.0);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) {
      const vec2 off = side * vec2(offsets[x], offsets[y]);
      sum += weights[x] * weights[y] * textureLod(source, (place + off) * texel, 0.0);
    }
  }
  return sum;
}
