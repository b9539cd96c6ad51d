#version 450 core

flat in vec2 peak;

layout(location = 0) out vec2 light;

#include "profile.glsl"

void main() {
  const vec2 offset = 2.0 * gl_PointCoord - 1.0;
  light = peak * profile(dot(offset, offset));
}
