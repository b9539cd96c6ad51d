#include "render/passes/box_renderer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr int vertices_per_box = 24;  // two ends of twelve edges
constexpr float few_boxes = 300;      // more boxes are fainter, so that the bodies stay visible

}  // namespace

BoxRenderer::BoxRenderer() : array_{make_vertex_array()} {
  const auto add = [this](unsigned attribute, int numbers, std::size_t offset) {
    glEnableVertexArrayAttrib(array_.id(), attribute);
    glVertexArrayAttribFormat(array_.id(), attribute, numbers, GL_FLOAT, GL_FALSE, static_cast<unsigned>(offset));
    glVertexArrayAttribBinding(array_.id(), attribute, 0);
  };
  add(0, 4, offsetof(DrawnBox, center));
  add(1, 1, offsetof(DrawnBox, level));
  glVertexArrayBindingDivisor(array_.id(), 0, 1);
}

void BoxRenderer::set(std::span<const DrawnBox> boxes) {
  count_ = 0;  // until the buffer holds them
  if (boxes.empty()) return;
  if (buffer_.size_bytes() < boxes.size_bytes()) buffer_ = Buffer{boxes.size_bytes()};
  buffer_.upload(std::as_bytes(boxes));
  deepest_ = std::max(std::ranges::max(boxes, {}, &DrawnBox::level).level, 1.0f);
  count_ = static_cast<int>(boxes.size());
}

void BoxRenderer::draw(const OrbitCamera& camera, const Canvas& canvas) const {
  if (count_ == 0 || canvas.width <= 0 || canvas.height <= 0) return;
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  glViewport(0, 0, canvas.width, canvas.height);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glEnable(GL_LINE_SMOOTH);
  const auto width = static_cast<float>(canvas.width), height = static_cast<float>(canvas.height);
  const glm::mat4 projection = camera.projection(width / height);
  program_.set("view", camera.view());
  program_.set("projection", projection);
  program_.set("pixels_per_tangent", 0.5f * height * projection[1][1]);
  program_.set("deepest_level", deepest_);
  program_.set("strength", std::min(1.0f, std::sqrt(few_boxes / static_cast<float>(count_))));
  glUseProgram(program_.id());
  glVertexArrayVertexBuffer(array_.id(), 0, buffer_.id(), 0, sizeof(DrawnBox));
  glBindVertexArray(array_.id());
  glDrawArraysInstanced(GL_LINES, 0, vertices_per_box, count_);
  glDisable(GL_LINE_SMOOTH);
  glDisable(GL_BLEND);
}

}  // namespace orrery::render
