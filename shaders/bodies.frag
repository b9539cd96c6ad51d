#version 450 core

flat in vec3 peak;

layout(location = 0) out vec4 light;

void main() {
  const vec2 offset = 2.0 * gl_PointCoord - 1.0;
  const float inside = max(1.0 - dot(offset, offset), 0.0);
  light = vec4(peak * (inside * inside * inside), 0.0);
}
