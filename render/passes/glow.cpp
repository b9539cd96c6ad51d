#include "render/passes/glow.h"

#include <algorithm>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr float narrowest_share = 0.3f;  // of the first level, whose texels would show

}  // namespace

unsigned Glow::make(const RenderTarget& light) {
  int divisor = 4;
  for (RenderTarget& level : levels_) {
    const int width = std::max(light.width() / divisor, 1), height = std::max(light.height() / divisor, 1);
    if (level.width() != width || level.height() != height) level = RenderTarget{GL_RGBA16F, width, height};
    divisor *= 2;
  }
  unsigned source = light.texture();
  for (const RenderTarget& level : levels_) {
    glBindTextureUnit(0, source);
    glBindImageTexture(0, level.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA16F);
    dispatch_over(reduce_, level.width(), level.height());
    source = level.texture();
  }
  for (int i = level_count - 2; i >= 0; --i) {
    widen_.set("own_share", i == 0 ? narrowest_share : 1.0f);
    glBindTextureUnit(0, levels_[i + 1].texture());
    glBindImageTexture(0, levels_[i].texture(), 0, GL_FALSE, 0, GL_READ_WRITE, GL_RGBA16F);
    dispatch_over(widen_, levels_[i].width(), levels_[i].height());
  }
  return levels_[0].texture();
}

}  // namespace orrery::render
