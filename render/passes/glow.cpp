#include "render/passes/glow.h"

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr int first_ratio = 4, ratio = 2;  // of the widths of the light and the first level; of two levels

/// Texels that cover all of `length`, the last one more.
int covering(int length, int ratio_of_texels) {
  return (length + ratio_of_texels - 1) / ratio_of_texels;
}

}  // namespace

unsigned Glow::make(const RenderTarget& light) {
  const RenderTarget* source = &light;
  for (RenderTarget& level : levels_) {
    const int by = source == &light ? first_ratio : ratio;
    const int width = covering(source->width(), by), height = covering(source->height(), by);
    if (level.width() != width || level.height() != height) level = RenderTarget{GL_RGBA16F, width, height};
    reduce_.set("ratio", by);
    glBindTextureUnit(0, source->texture());
    glBindImageTexture(0, level.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA16F);
    dispatch_over(reduce_, width, height);
    source = &level;
  }
  for (int i = level_count - 2; i >= 0; --i) {
    widen_.set("own_share", i == 0 ? 0.0f : 1.0f);  // texels of the first level would show
    glBindTextureUnit(0, levels_[i + 1].texture());
    glBindImageTexture(0, levels_[i].texture(), 0, GL_FALSE, 0, GL_READ_WRITE, GL_RGBA16F);
    dispatch_over(widen_, levels_[i].width(), levels_[i].height());
  }
  return levels_[0].texture();
}

}  // namespace orrery::render
