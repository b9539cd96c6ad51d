#version 450 core

noperspective in float offset_px;
noperspective in float width_px;
noperspective in vec4 ink;

layout(location = 0) out vec4 colour;

void main() {
  // A line of less than a pixel is a fainter one of a pixel.
  const float cover = clamp(0.5 * max(width_px, 1.0) + 0.5 - abs(offset_px), 0.0, 1.0) * min(width_px, 1.0);
  colour = vec4(ink.rgb, ink.a * cover);
}
