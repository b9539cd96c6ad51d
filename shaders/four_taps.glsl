// The mean of four bilinear samples around a place, `spread` texels off in both directions: a cheap soft blur.
vec3 four_taps(sampler2D source, vec2 place, float spread) {
  const vec2 off = spread / vec2(textureSize(source, 0));
  return 0.25 * (textureLod(source, place + off, 0.0).rgb + textureLod(source, place - off, 0.0).rgb +
                 textureLod(source, place + vec2(off.x, -off.y), 0.0).rgb +
                 textureLod(source, place + vec2(-off.x, off.y), 0.0).rgb);
}
