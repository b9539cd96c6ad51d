#pragma once

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"
#include "render/passes/body_light.h"

namespace orrery::render {

/// Draws bodies as point sprites that add up: one draw call for any number of bodies, on any driver. Needs a current
/// context, load_gl() done.
class Sprites {
 public:
  Sprites();

  /// Replaces the light, a GL_RG32F image: light, and light times its first share. A GL_RGBA32F image has all shares
  /// (see body.glsl). Skips bodies with numbers that are not finite.
  void draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light);

 private:
  Program program_{"sprite.vert", "sprite.frag"};
  VertexArray array_;
};

}  // namespace orrery::render
