#include "render/passes/compose.h"

#include "render/gl/gl.h"

namespace orrery::render {

/// Uses a compute shader, which copies 1920 x 1080 pixels in 0.01 ms on an H200; the driver's blit takes 0.17 ms. Only
/// the blit can write to a window.
void Copy::draw(const RenderTarget& picture, const Canvas& canvas) {
  const int width = picture.width(), height = picture.height();
  if (canvas.texture == 0) {
    glBlitNamedFramebuffer(picture.framebuffer(), canvas.framebuffer, 0, 0, width, height, canvas.left, 0,
                           canvas.left + width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    return;
  }
  glBindImageTexture(0, picture.texture(), 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
  glBindImageTexture(1, canvas.texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
  program_.set("left", canvas.left);
  dispatch_over(program_, width, height);
}

/// Uses a compute shader, as Copy does: it is much faster than a fragment shader, but cannot write to a window.
void Blend::draw_into(unsigned texture, const RenderTarget& picture, std::span<const PixelRect> parts) const {
  glBindImageTexture(0, picture.texture(), 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
  glBindImageTexture(1, texture, 0, GL_FALSE, 0, GL_READ_WRITE, GL_RGBA8);
  for (const PixelRect& part : parts) {
    const glm::ivec2 size{part.right - part.left, part.top - part.bottom};
    into_texture_.set("corner", glm::ivec2{part.left, part.bottom});
    into_texture_.set("size", size);
    dispatch_over(into_texture_, size.x, size.y);
  }
}

void Blend::draw(const RenderTarget& picture, std::span<const PixelRect> parts, const Canvas& canvas) const {
  if (canvas.texture != 0) return draw_into(canvas.texture, picture, parts);
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
