#version 450 core

layout(location = 0) in vec4 body;  // position, mass
layout(location = 1) in vec4 velocity;

uniform mat4 view;
uniform mat4 projection;
uniform float pixels_per_tangent;  // a length at a depth covers length / depth of these
uniform float light;               // of one body, as intensity times area in world units
uniform float radius;              // of a body's sprite, in world units
uniform vec2 radius_limits_px;
uniform bool by_mass;
uniform vec2 speed_range;
uniform vec2 mass_range;
uniform int colour_map;
layout(binding = 0) uniform sampler2D colours;

flat out vec3 peak;

const float pi = 3.14159265;
const float brightest = 24.0;  // peak of one sprite, so that a few near bodies do not drown in their own light

bool usable(vec4 v) { return all(lessThan(abs(v), vec4(1e18))); }  // false for NaN, too

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
  const float radius_px = clamp(radius * bulk * pixels_per_unit, radius_limits_px.x, radius_limits_px.y);
  // The sprite's profile (1 - r^2)^3 holds a quarter of its disc's area: what clamping the size takes or gives, the peak
  // gives back.
  const float light_px = light * bulk * bulk * pixels_per_unit * pixels_per_unit;
  const float intensity = min(4.0 * light_px / (pi * radius_px * radius_px), brightest);
  const float at = by_mass ? share_of_logarithm(body.w, mass_range) : share(length(velocity.xyz), speed_range);
  const vec2 size = vec2(textureSize(colours, 0));
  const vec2 texel = vec2(0.5 + at * (size.x - 1.0), 0.5 + float(colour_map));
  peak = intensity * textureLod(colours, texel / size, 0.0).rgb;
  gl_Position = projection * seen;
  gl_PointSize = 2.0 * radius_px;
}
