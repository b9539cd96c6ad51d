#pragma once

#include <glm/glm.hpp>
#include <span>

#include "render/camera.h"
#include "render/canvas.h"
#include "render/passes/strokes.h"

namespace orrery::render {

/// One end of a line.
struct LineEnd {
  glm::vec3 place;
  float width_px;    ///< >= 0; see usual_side_px
  glm::vec4 colour;  ///< sRGB and opacity, 0 to 1
};

/// A straight line. Width, colour and opacity change evenly from end to end. A line with an end that is not finite is
/// not drawn.
struct DrawnLine {
  LineEnd from, to;
};

/// Draws lines with smooth edges over a picture. Needs a current context, load_gl() done.
class LineRenderer {
 public:
  LineRenderer();

  /// Replaces the lines. Throws std::runtime_error if the memory is not enough.
  void set(std::span<const DrawnLine> lines);
  /// Draws them over the canvas, in their order. Leaves framebuffer and viewport of the canvas bound, blending off.
  void draw(const OrbitCamera& camera, const Canvas& canvas) const;

 private:
  Strokes strokes_;
};

}  // namespace orrery::render
