#include "render/passes/line_renderer.h"

#include <cstddef>

#include "render/passes/strokes.h"

namespace orrery::render {

LineRenderer::LineRenderer() : array_{make_vertex_array()} {
  add_instance_attribute(array_, 0, offsetof(DrawnLine, from.place));
  add_instance_attribute(array_, 1, offsetof(DrawnLine, from.colour));
  add_instance_attribute(array_, 2, offsetof(DrawnLine, to.place));
  add_instance_attribute(array_, 3, offsetof(DrawnLine, to.colour));
}

void LineRenderer::set(std::span<const DrawnLine> lines) {
  count_ = 0;  // until the buffer holds them
  if (lines.empty()) return;
  buffer_.replace(std::as_bytes(lines));
  count_ = static_cast<int>(lines.size());
}

void LineRenderer::draw(const OrbitCamera& camera, const Canvas& canvas) const {
  draw_strokes(program_, array_, buffer_, sizeof(DrawnLine), count_, 1, camera, canvas);
}

}  // namespace orrery::render
