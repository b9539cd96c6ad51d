// Light of a sprite at a distance from its middle; `square` is (distance / radius)^2. Its mean over the disc is a quarter.
float profile(float square) {
  const float inside = max(1.0 - square, 0.0);
  return inside * inside * inside;
}
