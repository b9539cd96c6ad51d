#include "render/passes/box_renderer.h"

#include <cstddef>

namespace orrery::render {

BoxRenderer::BoxRenderer(float widest)
    : strokes_{"boxes.vert", sizeof(DrawnBox), {offsetof(DrawnBox, center), offsetof(DrawnBox, colour)}} {
  strokes_.program().set("widest", widest);
}

void BoxRenderer::set(std::span<const DrawnBox> boxes) {
  strokes_.set(std::as_bytes(boxes));
}

void BoxRenderer::draw(const OrbitCamera& camera, const Canvas& canvas) const {
  constexpr int edges = 12;
  const auto width = static_cast<float>(canvas.width), height = static_cast<float>(canvas.height);
  if (canvas.width <= 0 || canvas.height <= 0) return;
  strokes_.program().set("pixels_per_tangent", 0.5f * height * camera.projection(width / height)[1][1]);
  strokes_.draw(edges, camera, canvas);
}

}  // namespace orrery::render
