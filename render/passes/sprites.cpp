#include "render/passes/sprites.h"

#include "render/gl/gl.h"

namespace orrery::render {

Sprites::Sprites() : array_{make_vertex_array()} {
  for (unsigned attribute = 0; attribute < 2; ++attribute) {
    glEnableVertexArrayAttrib(array_.id(), attribute);
    glVertexArrayAttribFormat(array_.id(), attribute, 4, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayAttribBinding(array_.id(), attribute, attribute);
  }
}

void Sprites::draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light) {
  constexpr GLintptr stride = 16;
  glVertexArrayVertexBuffer(array_.id(), 0, bodies.buffer, 0, stride);
  glVertexArrayVertexBuffer(array_.id(), 1, bodies.buffer, bodies.count * stride, stride);
  set_body_light(program_, body_light);
  program_.set("large_radius_px", body_light.large_radius_px);

  glBindFramebuffer(GL_FRAMEBUFFER, light.framebuffer());
  glViewport(0, 0, light.width(), light.height());
  constexpr float dark[4] = {};
  glClearNamedFramebufferfv(light.framebuffer(), GL_COLOR, 0, dark);
  for (const GLenum off : {GL_DEPTH_TEST, GL_CULL_FACE, GL_SCISSOR_TEST, GL_FRAMEBUFFER_SRGB}) glDisable(off);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFunc(GL_ONE, GL_ONE);
  glBindVertexArray(array_.id());
  glUseProgram(program_.id());
  glDrawArrays(GL_POINTS, 0, bodies.count);
  glDisable(GL_BLEND);
}

}  // namespace orrery::render
