#pragma once

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// Finds the exposure for an image of light, on the GPU alone: nothing waits for it. Needs a current context, load_gl()
/// done.
class Meter {
 public:
  Meter();

  /// Brings the exposure nearer to that of the light; the first time at once. Binds it as storage block 0, which
  /// shaders/exposure.glsl declares.
  void measure(const RenderTarget& light);

 private:
  Program count_{ComputeShader{"meter.comp"}}, expose_{ComputeShader{"expose.comp"}};
  Buffer exposure_;
};

}  // namespace orrery::render
