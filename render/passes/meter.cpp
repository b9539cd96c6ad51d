#include "render/passes/meter.h"

#include <array>
#include <cstdint>
#include <span>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

using Block = std::array<std::uint32_t, 65>;  // of exposure.glsl: the exposure and 64 bins

}  // namespace

Meter::Meter() : exposure_{sizeof(Block)} {
  const Block zero{};
  exposure_.upload(std::as_bytes(std::span{zero}));
}

void Meter::measure(const RenderTarget& light) {
  bind_storage(0, exposure_);
  glBindTextureUnit(0, light.texture());
  dispatch_over(count_, light.width(), light.height());
  dispatch(expose_, 1);
}

}  // namespace orrery::render
