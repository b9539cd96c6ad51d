#version 450 core

layout(location = 0) in vec4 position;  // mass in w
layout(location = 1) in vec4 velocity;
layout(location = 2) in float value;

#include "body.glsl"

flat out vec4 peak;  // light in the middle, and the same times the body's shares

void main() {
  Body body;
  if (!see(position, velocity, value, body)) {
    peak = vec4(0.0);
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);  // outside the clip volume
    gl_PointSize = 1.0;
    return;
  }
  const float radius_px = drawn_radius_px(body.radius_px);
  peak = peak_of(body, radius_px) * vec4(1.0, body.shares);
  gl_Position = body.clip;
  gl_PointSize = 2.0 * radius_px;
}
