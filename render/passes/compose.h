// Copies of pictures to a canvas, and pictures laid over one.
#pragma once

#include <span>

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// Copies pictures. Needs a current context after load_gl().
class Copy {
 public:
  /// Copies a GL_RGBA8 picture onto a canvas, or a part of one, of the same size.
  void draw(const RenderTarget& picture, const Canvas& canvas);

 private:
  Program program_{ComputeShader{"compose.glsl#copy"}};
};

/// A rectangle of pixels, from `left` up to but excluding `right`; y points up, as in OpenGL.
struct PixelRect {
  int left = 0, bottom = 0, right = 0, top = 0;
};

/// Lays pictures over others. Needs a current context after load_gl().
class Blend {
 public:
  /// Lays the `parts` of a picture over the canvas, which has the same size. The picture's colours must be multiplied
  /// by their opacity. A pixel in two parts is laid over twice.
  void draw(const RenderTarget& picture, std::span<const PixelRect> parts, const Canvas& canvas) const;

 private:
  void draw_into(unsigned texture, const RenderTarget& picture, std::span<const PixelRect> parts) const;

  Program program_{"compose.glsl#blend_vertex", "compose.glsl#blend_fragment"},
      into_texture_{ComputeShader{"compose.glsl#blend"}};
  VertexArray none_{make_vertex_array()};  // a core profile draws nothing without one
};

}  // namespace orrery::render
