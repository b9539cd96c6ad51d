#include "render/passes/strokes.h"

#include <algorithm>

#include "render/gl/gl.h"

namespace orrery::render {

void add_instance_attribute(const VertexArray& array, unsigned attribute, std::size_t offset) {
  glEnableVertexArrayAttrib(array.id(), attribute);
  glVertexArrayAttribFormat(array.id(), attribute, 4, GL_FLOAT, GL_FALSE, static_cast<unsigned>(offset));
  glVertexArrayAttribBinding(array.id(), attribute, 0);
  glVertexArrayBindingDivisor(array.id(), 0, 1);
}

void draw_strokes(const Program& program, const VertexArray& array, const Buffer& instances, std::size_t stride,
                  int count, int strokes, const OrbitCamera& camera, const Canvas& canvas) {
  if (count == 0 || canvas.width <= 0 || canvas.height <= 0) return;
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  glViewport(0, 0, canvas.width, canvas.height);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  const auto width = static_cast<float>(canvas.width), height = static_cast<float>(canvas.height);
  program.set("view", camera.view());
  program.set("projection", camera.projection(width / height));
  program.set("size", glm::vec2{width, height});
  program.set("width_scale", std::max(std::min(width, height) / usual_side_px, 1.0f));
  glUseProgram(program.id());
  glVertexArrayVertexBuffer(array.id(), 0, instances.id(), 0, static_cast<int>(stride));
  glBindVertexArray(array.id());
  glDrawArraysInstanced(GL_TRIANGLES, 0, vertices_per_stroke * strokes, count);
  glDisable(GL_BLEND);
}

}  // namespace orrery::render
