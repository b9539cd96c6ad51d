#version 450 core

flat in vec4 peak;

layout(location = 0) out vec4 light;  // as many components as the image has

#include "profile.glsl"

void main() {
  const vec2 offset = 2.0 * gl_PointCoord - 1.0;
  light = peak * profile(dot(offset, offset));
}
