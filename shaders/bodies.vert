#version 450 core

layout(location = 0) in vec4 body;  // position, mass
layout(location = 1) in vec4 velocity;

uniform mat4 view;
uniform mat4 projection;
uniform float pixels_per_tangent;  // a length at a depth covers length / depth of these
uniform float intensity;           // at the middle of a sprite of its own size
uniform float radius;              // of a body's sprite, in world units
uniform float least_radius_px;
uniform float large_radius_px;     // from here on sprites grow with the root of their nearness
uniform bool by_mass;
uniform vec2 speed_range;
uniform vec2 mass_range;
uniform int colour_map;
layout(binding = 0) uniform sampler2D colours;

flat out vec3 peak;

// False for NaN, too. In integers, because compilers may turn a comparison of floats round and forget about NaN.
bool usable(vec4 v) { return all(lessThan(floatBitsToUint(v) & 0x7fffffffu, uvec4(floatBitsToUint(1e18)))); }

float share(float value, vec2 range) {
  return clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
}

float share_of_logarithm(float value, vec2 range) {
  return share(log(max(value, 1e-30)), log(max(range, vec2(1e-30))));
}

void main() {
  const vec4 seen = view * vec4(body.xyz, 1.0);
  if (!usable(body) || !usable(velocity) || !(seen.z < 0.0)) {
    peak = vec3(0.0);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);  // outside the clip volume
    gl_PointSize = 1.0;
    return;
  }
  const float pixels_per_unit = pixels_per_tangent / -seen.z;
  const float bulk = clamp(pow(max(body.w, 0.0) / max(mass_range.y, 1e-30), 1.0 / 3.0), 0.5, 4.0);
  const float own_px = radius * bulk * pixels_per_unit;
  const float radius_px = own_px > large_radius_px ? sqrt(own_px * large_radius_px) : max(own_px, least_radius_px);
  const float shrunk = min(own_px / radius_px, 1.0);  // a body too far for its own size keeps its light, not its peak
  const float at = by_mass ? share_of_logarithm(body.w, mass_range) : share(length(velocity.xyz), speed_range);
  const vec2 size = vec2(textureSize(colours, 0));
  const vec2 texel = vec2(0.5 + at * (size.x - 1.0), 0.5 + float(colour_map));
  peak = intensity * shrunk * shrunk * textureLod(colours, texel / size, 0.0).rgb;
  gl_Position = projection * seen;
  gl_PointSize = 2.0 * radius_px;
}
