#include "render/passes/box_renderer.h"

#include <cstddef>

#include "render/passes/strokes.h"

namespace orrery::render {

BoxRenderer::BoxRenderer() : array_{make_vertex_array()} {
  add_instance_attribute(array_, 0, offsetof(DrawnBox, center));
  add_instance_attribute(array_, 1, offsetof(DrawnBox, colour));
}

void BoxRenderer::set(std::span<const DrawnBox> boxes) {
  count_ = 0;  // until the buffer holds them
  if (boxes.empty()) return;
  buffer_.replace(std::as_bytes(boxes));
  count_ = static_cast<int>(boxes.size());
}

void BoxRenderer::draw(const OrbitCamera& camera, const Canvas& canvas) const {
  constexpr int edges = 12;
  const auto width = static_cast<float>(canvas.width), height = static_cast<float>(canvas.height);
  if (count_ == 0 || canvas.width <= 0 || canvas.height <= 0) return;
  program_.set("pixels_per_tangent", 0.5f * height * camera.projection(width / height)[1][1]);
  draw_strokes(program_, array_, buffer_, sizeof(DrawnBox), count_, edges, camera, canvas);
}

}  // namespace orrery::render
