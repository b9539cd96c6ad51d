#version 450 core

layout(location = 0) in vec4 box;  // centre, half the length of an edge
layout(location = 1) in vec4 colour;

uniform float width_scale;
uniform float pixels_per_tangent;  // a length at a depth covers length / depth of these
uniform float widest;              // see BoxRenderer

#include "stroke.glsl"

void main() {
  // Twelve edges: four along each axis, at the four pairs of signs of the other two.
  const int edge = gl_VertexID / 6, axis = edge / 4;
  vec3 corner;
  corner[axis] = -1.0;
  corner[(axis + 1) % 3] = (edge & 1) == 0 ? -1.0 : 1.0;
  corner[(axis + 2) % 3] = (edge & 2) == 0 ? -1.0 : 1.0;
  vec3 opposite = corner;
  opposite[axis] = 1.0;
  // Boxes of few pixels would only be a fog.
  const float depth = -(view * vec4(box.xyz, 1.0)).z;
  const float pixels = 2.0 * box.w * pixels_per_tangent / max(depth, 1e-30);
  const float strength = smoothstep(6.0, 60.0, pixels) * (1.0 - smoothstep(0.2 * widest, widest, pixels / size.y));
  const vec4 shown = vec4(colour.rgb, colour.a * strength);
  draw_stroke(End(box.xyz + box.w * corner, width_scale, shown), End(box.xyz + box.w * opposite, width_scale, shown),
              gl_VertexID % 6);
}
