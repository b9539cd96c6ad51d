#version 450 core

out vec2 place;  // 0 to 1 over the canvas

// One triangle that covers the canvas, without a vertex buffer.
void main() {
  place = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
  gl_Position = vec4(2.0 * place - 1.0, 0.0, 1.0);
}
