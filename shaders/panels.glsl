// The panels: coloured triangles, with one texture that has the letters. See app/window/panel_painter.h.

#section vertex
uniform vec2 origin;  // upper left corner of the surface, in ImGui's coordinates, whose y points down
uniform vec2 size;

layout(location = 0) in vec2 place;
layout(location = 1) in vec2 place_of_letter;
layout(location = 2) in vec4 colour;

out vec2 letter;
out vec4 tint;

void main() {
  const vec2 share = (place - origin) / size;
  letter = place_of_letter;
  tint = colour;
  gl_Position = vec4(2 * share.x - 1, 1 - 2 * share.y, 0, 1);
}

#section fragment
layout(binding = 0) uniform sampler2D letters;

in vec2 letter;
in vec4 tint;

layout(location = 0) out vec4 colour;

void main() {
  colour = tint * texture(letters, letter);
}
