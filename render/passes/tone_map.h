#pragma once

#include "render/appearance.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// Turns light into a picture: colours, tone mapping, sRGB encoding, dithering. Needs a current context, load_gl()
/// done.
class ToneMap {
 public:
  ToneMap();

  /// Fills `picture`, a GL_RGBA8 image of the size of `light`. `glow` is what Glow::make() returned for the light.
  void draw(const RenderTarget& light, unsigned glow, const Appearance& appearance, const RenderTarget& picture);

 private:
  Program program_{ComputeShader{"tone_map.comp"}};
  Texture colours_;  // one row per colour map
};

}  // namespace orrery::render
