#include "render/passes/sprites.h"

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr unsigned position = 0, velocity = 1, value = 2;  // attributes of sprite.vert

}  // namespace

Sprites::Sprites() : array_{make_vertex_array()} {
  for (const unsigned attribute : {position, velocity, value}) {
    if (attribute != value) glEnableVertexArrayAttrib(array_.id(), attribute);
    glVertexArrayAttribFormat(array_.id(), attribute, attribute == value ? 1 : 4, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayAttribBinding(array_.id(), attribute, attribute);
  }
}

void Sprites::draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light) {
  constexpr GLintptr stride = 16;
  glVertexArrayVertexBuffer(array_.id(), position, bodies.buffer, 0, stride);
  glVertexArrayVertexBuffer(array_.id(), velocity, bodies.buffer, bodies.count * stride, stride);
  if (bodies.values != 0) {
    glEnableVertexArrayAttrib(array_.id(), value);
    glVertexArrayVertexBuffer(array_.id(), value, bodies.values, 0, sizeof(float));
  } else {
    glDisableVertexArrayAttrib(array_.id(), value);
  }
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
