#version 450 core

in vec2 place;

layout(location = 0) out vec4 light;
layout(binding = 0) uniform sampler2D source;

#include "tent.glsl"

const float hottest = 3e4;  // what half floats still add up

void main() {
  // Samples lie half a written texel apart: a body's glow moves smoothly with it.
  const float texels_read = fwidth(place.x) * float(textureSize(source, 0).x);
  light = vec4(min(tent(source, place, 0.5 * texels_read), vec3(hottest)), 0.0);
}
