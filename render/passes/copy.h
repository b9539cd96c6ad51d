#pragma once

#include "render/canvas.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// Copies pictures. Needs a current context, load_gl() done.
class Copy {
 public:
  /// Copies a GL_RGBA8 picture onto a canvas, or a part of one, of the same size.
  void draw(const RenderTarget& picture, const Canvas& canvas);

 private:
  Program program_{ComputeShader{"copy.comp"}};
};

}  // namespace orrery::render
