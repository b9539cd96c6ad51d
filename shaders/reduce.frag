#version 450 core

in vec2 place;

layout(location = 0) out vec4 light;
layout(binding = 0) uniform sampler2D source;

#include "four_taps.glsl"

const float hottest = 3e4;  // what half floats still add up

void main() { light = vec4(min(four_taps(source, place, 1.0), vec3(hottest)), 0.0); }
