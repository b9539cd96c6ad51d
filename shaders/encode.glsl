vec3 encode_srgb(vec3 c) {
  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, greaterThan(c, vec3(0.0031308)));
}

// Interleaved gradient noise (Jimenez 2014), -0.5 to 0.5: breaks up bands between neighbouring values of eight bits.
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))) - 0.5; }

vec4 encoded(vec3 light, ivec2 pixel) {
  return vec4(encode_srgb(max(light, vec3(0.0))) + noise(vec2(pixel) + 0.5) / 255.0, 1.0);
}
