#pragma once

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

struct ImDrawData;

namespace orrery {

/// Draws what Dear ImGui has laid out, with the OpenGL functions that load_gl() found. Dear ImGui's own renderer looks
/// for libGL.so.1, which a machine without a display may lack. Needs a current context, load_gl() done, and the ImGui
/// context for which it was made.
class PanelPainter {
 public:
  PanelPainter();

  /// Takes the letters of the current fonts. Call when the fonts have changed, between two frames.
  void take_fonts();
  /// Draws onto a framebuffer. Leaves it bound, blending and the scissor test off.
  void draw(const ImDrawData& laid_out, unsigned framebuffer);

 private:
  void upload(const ImDrawData& laid_out);

  render::Program program_{"panels.glsl#vertex", "panels.glsl#fragment"};
  render::VertexArray array_{render::make_vertex_array()};
  render::Buffer vertices_, indices_;
  render::Texture letters_;
};

}  // namespace orrery
