#version 450 core

layout(location = 0) in vec4 box;   // centre, half the length of an edge
layout(location = 1) in float level;

uniform mat4 view;
uniform mat4 projection;
uniform float pixels_per_tangent;  // a length at a depth covers length / depth of these
uniform float deepest_level;       // > 0
uniform float strength;            // in (0, 1]

out vec4 line;

const vec3 outermost = vec3(0.26, 0.42, 0.95), innermost = vec3(0.95, 0.62, 0.30);

void main() {
  // Twelve edges of two ends: four along each axis, at the four pairs of signs of the other two.
  const int edge = gl_VertexID / 2, axis = edge / 4;
  const float sign_here = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
  const float sign_next = (edge & 1) == 0 ? -1.0 : 1.0, sign_last = (edge & 2) == 0 ? -1.0 : 1.0;
  vec3 corner;
  corner[axis] = sign_here;
  corner[(axis + 1) % 3] = sign_next;
  corner[(axis + 2) % 3] = sign_last;
  const vec4 middle = view * vec4(box.xyz, 1.0);
  gl_Position = projection * (view * vec4(box.xyz + box.w * corner, 1.0));
  // Cells of few pixels would only be a fog.
  const float pixels = 2.0 * box.w * pixels_per_tangent / max(-middle.z, 1e-30);
  const float depth = clamp(level / deepest_level, 0.0, 1.0);
  line = vec4(mix(outermost, innermost, depth), mix(0.34, 0.15, depth) * smoothstep(6.0, 60.0, pixels) * strength);
}
