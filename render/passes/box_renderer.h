#pragma once

#include <glm/glm.hpp>
#include <span>

#include "render/camera.h"
#include "render/canvas.h"
#include "render/passes/strokes.h"

namespace orrery::render {

/// A cube to be drawn by its edges.
struct DrawnBox {
  glm::vec3 center;
  float half_size;   ///< of an edge, > 0
  glm::vec4 colour;  ///< sRGB and opacity, 0 to 1
};

/// Draws cubes as thin translucent lines over a picture. Those of few pixels fade away, and so do those that are nearly
/// `widest` heights of the picture wide: near the camera, their edges would cover the others. Needs a current context,
/// load_gl() done.
class BoxRenderer {
 public:
  static constexpr float any_width = 1e9f;

  explicit BoxRenderer(float widest = any_width);

  /// Replaces the boxes. Throws std::runtime_error if the memory is not enough.
  void set(std::span<const DrawnBox> boxes);
  /// Draws them over the canvas. Leaves framebuffer and viewport of the canvas bound, blending off.
  void draw(const OrbitCamera& camera, const Canvas& canvas) const;

 private:
  Strokes strokes_;
};

}  // namespace orrery::render
