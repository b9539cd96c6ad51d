#version 450 core

layout(binding = 0) uniform sampler2D picture;

layout(location = 0) out vec4 colour;

void main() {
  colour = texelFetch(picture, ivec2(gl_FragCoord.xy), 0);
}
