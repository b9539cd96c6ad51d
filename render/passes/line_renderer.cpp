#include "render/passes/line_renderer.h"

#include <cstddef>

namespace orrery::render {

LineRenderer::LineRenderer()
    : strokes_{"lines.vert",
               sizeof(DrawnLine),
               {offsetof(DrawnLine, from.place), offsetof(DrawnLine, from.colour), offsetof(DrawnLine, to.place),
                offsetof(DrawnLine, to.colour)}} {}

void LineRenderer::set(std::span<const DrawnLine> lines) {
  strokes_.set(std::as_bytes(lines));
}

void LineRenderer::draw(const OrbitCamera& camera, const Canvas& canvas) const {
  strokes_.draw(1, camera, canvas);
}

}  // namespace orrery::render
