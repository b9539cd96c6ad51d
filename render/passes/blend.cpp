#include "render/passes/blend.h"

#include "render/gl/gl.h"

namespace orrery::render {

void Blend::draw(const RenderTarget& picture, std::span<const PixelRect> parts, const Canvas& canvas) const {
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  glViewport(0, 0, canvas.width, canvas.height);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glEnable(GL_SCISSOR_TEST);
  glUseProgram(program_.id());
  glBindTextureUnit(0, picture.texture());
  glBindVertexArray(none_.id());
  for (const PixelRect& part : parts) {
    glScissor(part.left, part.bottom, part.right - part.left, part.top - part.bottom);
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_BLEND);
}

}  // namespace orrery::render
