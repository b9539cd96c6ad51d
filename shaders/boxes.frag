#version 450 core

in vec4 line;

layout(location = 0) out vec4 colour;

void main() { colour = line; }
