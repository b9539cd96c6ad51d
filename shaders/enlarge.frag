#version 450 core

in vec2 place;

layout(location = 0) out vec4 light;
layout(binding = 0) uniform sampler2D source;

#include "four_taps.glsl"

const float wider = 0.8;  // weight of each wider level against the one before

void main() { light = vec4(wider * four_taps(source, place, 0.75), 0.0); }
