#pragma once

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// A soft, wide copy of an image of light (bloom). Needs a current context, load_gl() done.
class Glow {
 public:
  /// The texture of the glow: a texel covers 4 x 4 pixels of `light`, whose components are all kept; the last ones may
  /// reach beyond its edge. It stays until the next call.
  unsigned make(const RenderTarget& light);

 private:
  static constexpr int level_count = 4;  ///< each half as wide as the one before; the first a quarter of the light

  Program reduce_{ComputeShader{"reduce.comp"}};
  Program widen_{ComputeShader{"widen.comp"}};
  RenderTarget levels_[level_count];
};

}  // namespace orrery::render
