#version 450 core

layout(location = 0) in vec4 from;  // width in w
layout(location = 1) in vec4 from_colour;
layout(location = 2) in vec4 to;
layout(location = 3) in vec4 to_colour;

uniform float width_scale;

#include "stroke.glsl"

void main() {
  draw_stroke(End(from.xyz, width_scale * from.w, from_colour), End(to.xyz, width_scale * to.w, to_colour),
              gl_VertexID);
}
