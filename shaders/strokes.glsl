// Draws lines and edges of boxes. See render/passes/strokes.h.

#section band
// Code that lines and boxes share: a line as a band of two triangles with smooth edges. See render/passes/strokes.h.
uniform mat4 view;
uniform mat4 projection;
uniform vec2 size;  // size of the picture in pixels

noperspective out float offset_px;  // distance from the middle of the line
noperspective out float width_px;
noperspective out vec4 ink;  // sRGB and opacity

#include "bodies.glsl#usable"

struct End {
  vec3 place;
  float width_px;
  vec4 colour;
};

// Sets the outputs for vertex 0 to 5 of the line.
void draw_stroke(End from, End to, int vertex) {
  vec4 a = projection * (view * vec4(from.place, 1.0)), b = projection * (view * vec4(to.place, 1.0));
  const float nearest = -0.5 * projection[3][2];  // minimum w in front of the camera
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);         // outside the clip volume
  offset_px = width_px = 0.0;
  ink = vec4(0.0);
  if (!usable(a) || !usable(b) || max(a.w, b.w) <= nearest) return;
  const float cut_a = a.w < nearest ? (nearest - a.w) / (b.w - a.w) : 0.0;
  const float cut_b = b.w < nearest ? (nearest - b.w) / (a.w - b.w) : 0.0;
  const vec4 start = mix(a, b, cut_a), stop = mix(b, a, cut_b);
  const vec2 pixel_a = 0.5 * size * start.xy / start.w, pixel_b = 0.5 * size * stop.xy / stop.w;
  const vec2 along = pixel_b - pixel_a;
  const float extent = length(along);
  const vec2 side = extent > 1e-3 ? vec2(-along.y, along.x) / extent : vec2(0.0, 1.0);

  const bool at_end = vertex == 1 || vertex == 2 || vertex == 4;
  const float hand = vertex == 0 || vertex == 1 || vertex == 3 ? -1.0 : 1.0;
  const float share = at_end ? 1.0 - cut_b : cut_a;
  width_px = mix(from.width_px, to.width_px, share);
  ink = mix(from.colour, to.colour, share);
  offset_px = hand * (0.5 * max(width_px, 1.0) + 1.0);
  const vec2 pixel = (at_end ? pixel_b : pixel_a) + offset_px * side;
  gl_Position = vec4(pixel / (0.5 * size), 0.0, 1.0);
}

#section line_vertex
layout(location = 0) in vec4 from;  // width in w
layout(location = 1) in vec4 from_colour;
layout(location = 2) in vec4 to;
layout(location = 3) in vec4 to_colour;

uniform float width_scale;

#include "#band"

void main() {
  draw_stroke(End(from.xyz, width_scale * from.w, from_colour), End(to.xyz, width_scale * to.w, to_colour),
              gl_VertexID);
}

#section box_vertex
layout(location = 0) in vec4 box;  // centre; in w half the length of an edge
layout(location = 1) in vec4 colour;

uniform float width_scale;
uniform float pixels_per_tangent;  // a length at a depth covers this many pixels times length / depth
uniform float widest;              // see BoxRenderer

#include "#band"

void main() {
  // Twelve edges: four along each axis, at the four pairs of signs of the other two axes.
  const int edge = gl_VertexID / 6, axis = edge / 4;
  vec3 corner;
  corner[axis] = -1.0;
  corner[(axis + 1) % 3] = (edge & 1) == 0 ? -1.0 : 1.0;
  corner[(axis + 2) % 3] = (edge & 2) == 0 ? -1.0 : 1.0;
  vec3 opposite = corner;
  opposite[axis] = 1.0;
  // Boxes of few pixels would look like fog.
  const float depth = -(view * vec4(box.xyz, 1.0)).z;
  const float pixels = 2.0 * box.w * pixels_per_tangent / max(depth, 1e-30);
  const float strength = smoothstep(6.0, 60.0, pixels) * (1.0 - smoothstep(0.2 * widest, widest, pixels / size.y));
  const vec4 shown = vec4(colour.rgb, colour.a * strength);
  draw_stroke(End(box.xyz + box.w * corner, width_scale, shown), End(box.xyz + box.w * opposite, width_scale, shown),
              gl_VertexID % 6);
}

#section fragment
noperspective in float offset_px;
noperspective in float width_px;
noperspective in vec4 ink;

layout(location = 0) out vec4 colour;

void main() {
  // A line narrower than a pixel is drawn as a fainter line of one pixel.
  const float cover = clamp(0.5 * max(width_px, 1.0) + 0.5 - abs(offset_px), 0.0, 1.0) * min(width_px, 1.0);
  colour = vec4(ink.rgb, ink.a * cover);
}
