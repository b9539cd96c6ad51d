// A line as a band of two triangles, with smooth edges: what lines and boxes have in common. See
// render/passes/strokes.h.
uniform mat4 view;
uniform mat4 projection;
uniform vec2 size;  // of the picture in pixels

noperspective out float offset_px;  // from the middle of the line
noperspective out float width_px;
noperspective out vec4 ink;  // sRGB and opacity

#include "usable.glsl"

struct End {
  vec3 place;
  float width_px;
  vec4 colour;
};

// Places vertex 0 to 5 of the line.
void draw_stroke(End from, End to, int vertex) {
  vec4 a = projection * (view * vec4(from.place, 1.0)), b = projection * (view * vec4(to.place, 1.0));
  const float nearest = -0.5 * projection[3][2];  // of w, in front of the camera
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
