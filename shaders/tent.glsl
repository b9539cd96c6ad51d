// A weighted mean of nine bilinear samples around a place, `spread` texels apart: a round, soft blur.
vec4 tent(sampler2D source, vec2 place, float spread) {
  const vec2 off = spread / vec2(textureSize(source, 0));
  vec4 sum = vec4(0.0);
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) {
      const float weight = float((2 - abs(x)) * (2 - abs(y))) / 16.0;
      sum += weight * textureLod(source, place + vec2(x, y) * off, 0.0);
    }
  }
  return sum;
}
