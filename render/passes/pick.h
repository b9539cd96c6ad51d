#pragma once

#include <optional>

#include "render/gl/gl_objects.h"
#include "render/gl/program.h"
#include "render/passes/body_light.h"

namespace orrery::render {

/// Finds the body that a user points at. Needs a current context, load_gl() done.
///
/// A body's distance is that of the place from the bright inner half of its sprite, in steps of a quarter of a pixel.
/// The body with the least distance is found; of several, the one in front, and of these the one with the lowest
/// index.
class Pick {
 public:
  Pick();

  /// The body at `place`, in pixels from the lower left corner of a picture of `width` x `height` pixels; none if there
  /// is no body within `reach_px`. Waits for the GPU.
  std::optional<int> at(glm::vec2 place, float reach_px, const DrawnBodies& bodies, const BodyLight& body_light,
                        int width, int height);

 private:
  Program program_;
  Buffer found_;
};

}  // namespace orrery::render
