#version 450 core

in vec2 place;

layout(location = 0) out vec4 light;
layout(binding = 0) uniform sampler2D source;

#include "tent.glsl"

const float wider = 0.7;  // weight of each wider level against the one before

void main() { light = vec4(wider * tent(source, place, 1.0), 0.0); }
