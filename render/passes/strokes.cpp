#include "render/passes/strokes.h"

#include <algorithm>
#include <cstddef>

#include "render/gl/gl.h"

namespace orrery::render {

Strokes::Strokes(const char* vertex_shader, std::size_t stride, std::initializer_list<std::size_t> offsets)
    : program_{vertex_shader, "strokes.glsl#fragment"}, stride_{stride}, array_{make_vertex_array()} {
  unsigned attribute = 0;
  for (const std::size_t offset : offsets) {
    glEnableVertexArrayAttrib(array_.id(), attribute);
    glVertexArrayAttribFormat(array_.id(), attribute, 4, GL_FLOAT, GL_FALSE, static_cast<unsigned>(offset));
    glVertexArrayAttribBinding(array_.id(), attribute, 0);
    ++attribute;
  }
  glVertexArrayBindingDivisor(array_.id(), 0, 1);
}

void Strokes::set(std::span<const std::byte> instances) {
  count_ = 0;  // until the buffer holds the instances
  if (instances.empty()) return;
  instances_.replace(instances);
  count_ = static_cast<int>(instances.size() / stride_);
}

void Strokes::draw(int lines, const OrbitCamera& camera, const Canvas& canvas) const {
  if (count_ == 0 || canvas.width <= 0 || canvas.height <= 0) return;
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  glViewport(0, 0, canvas.width, canvas.height);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  const auto width = static_cast<float>(canvas.width), height = static_cast<float>(canvas.height);
  program_.set("view", camera.view());
  program_.set("projection", camera.projection(width / height));
  program_.set("size", glm::vec2{width, height});
  program_.set("width_scale", std::max(std::min(width, height) / usual_side_px, 1.0f));
  glUseProgram(program_.id());
  glVertexArrayVertexBuffer(array_.id(), 0, instances_.id(), 0, static_cast<int>(stride_));
  glBindVertexArray(array_.id());
  glDrawArraysInstanced(GL_TRIANGLES, 0, vertices_per_stroke * lines, count_);
  glDisable(GL_BLEND);
}

LineRenderer::LineRenderer()
    : strokes_{"strokes.glsl#line_vertex",
               sizeof(DrawnLine),
               {offsetof(DrawnLine, from.place), offsetof(DrawnLine, from.colour), offsetof(DrawnLine, to.place),
                offsetof(DrawnLine, to.colour)}} {}

void LineRenderer::set(std::span<const DrawnLine> lines) {
  strokes_.set(std::as_bytes(lines));
}

void LineRenderer::draw(const OrbitCamera& camera, const Canvas& canvas) const {
  strokes_.draw(1, camera, canvas);
}

BoxRenderer::BoxRenderer(float widest)
    : strokes_{"strokes.glsl#box_vertex", sizeof(DrawnBox), {offsetof(DrawnBox, center), offsetof(DrawnBox, colour)}} {
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
