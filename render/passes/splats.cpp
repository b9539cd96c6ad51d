#include "render/passes/splats.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr std::size_t texel_bytes = 8;
constexpr int large_groups = 16384;  // of large.comp, at most: more start more slowly than they work

constexpr int few_bodies = 131072;  // up to here all bodies are sprites: their places are exact, and they cost little

constexpr std::string_view with_int64 =
    "#extension GL_NV_gpu_shader5 : require\n"
    "#extension GL_NV_shader_atomic_int64 : require\n"
    "#define ATOMIC_INT64\n";

Program program(std::string_view file) {
  return Program{ComputeShader{file, Splats::fast_here() ? with_int64 : std::string_view{}}};
}

std::size_t pixels_of(int width, int height) {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

}  // namespace

Splats::Splats()
    : clear_{program("clear.comp")},
      splat_{program("splat.comp")},
      large_{program("large.comp")},
      gather_{program("gather.comp")} {}

bool Splats::fast_here() {
  return has_extension("GL_NV_gpu_shader5") && has_extension("GL_NV_shader_atomic_int64");
}

bool Splats::can_draw(int count, int width, int height, bool all_shares) {
  GLint64 most_bytes = 0;
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &most_bytes);
  const std::size_t largest =
      std::max(32 * static_cast<std::size_t>(count), (all_shares ? 8 : 4) * texel_bytes * pixels_of(width, height));
  return largest <= static_cast<std::size_t>(most_bytes);
}

void Splats::resize(int count, int width, int height, bool all_shares) {
  const std::size_t pixels = pixels_of(width, height) * (all_shares ? 2 : 1),
                    list_bytes = 4 * (1 + static_cast<std::size_t>(count));
  if (sprites_.size_bytes() != texel_bytes * pixels) {
    splats_ = {};  // frees the old memory first
    sprites_ = {};
    splats_ = Buffer{4 * texel_bytes * pixels};
    sprites_ = Buffer{texel_bytes * pixels};
  }
  if (large_bodies_.size_bytes() != list_bytes) {
    large_bodies_ = {};
    large_bodies_ = Buffer{list_bytes};
  }
}

void Splats::draw(const DrawnBodies& bodies, const BodyLight& body_light, const RenderTarget& light) {
  const int width = light.width(), height = light.height();
  const bool all_shares = light.format() == GL_RGBA32F;
  resize(bodies.count, width, height, all_shares);
  const int pixels = all_shares ? width * height : 0;
  const auto count = static_cast<float>(bodies.count);
  // A texel's sum stays below 2^32: of splats, as four times the light of all bodies at the camera's target would be as
  // much; of sprites, as none has more light in a pixel than `intensity`.
  const float splat_quanta = 0x1p30f / (count * body_light.light_at_target);
  const float sprite_quanta = std::min(0x1p31f / count, 0x1p24f) / body_light.intensity;

  const bool with_splats = bodies.count > few_bodies;
  for (const Program* program : {&clear_, &splat_, &gather_}) program->set("with_splats", with_splats ? 1 : 0);
  bind_storage(0, splats_);
  bind_storage(1, sprites_);
  bind_storage(2, large_bodies_);
  dispatch_over(clear_, (with_splats ? splats_ : sprites_).size_bytes() / texel_bytes);

  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, bodies.buffer);
  if (bodies.values != 0) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 3, bodies.values);
  for (const Program* program : {&splat_, &large_}) {
    set_body_light(*program, body_light);
    program->set("count", bodies.count);
    program->set("size", glm::ivec2{width, height});
  }
  splat_.set("quanta", splat_quanta);
  splat_.set("values_at", 4 * pixels);
  bind_storage(1, splats_);
  dispatch_over(splat_, static_cast<std::size_t>(bodies.count));
  large_.set("quanta", sprite_quanta);
  large_.set("values_at", pixels);
  large_.set("large_radius_px", body_light.large_radius_px);
  bind_storage(1, sprites_);
  dispatch(large_, std::min(bodies.count, large_groups));

  gather_.set("values_at", glm::ivec2{4 * pixels, pixels});
  gather_.set("splat_quanta", splat_quanta);
  gather_.set("sprite_quanta", sprite_quanta);
  bind_storage(0, splats_);
  glBindImageTexture(0, light.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, light.format());
  dispatch_over(gather_, width, height);
}

}  // namespace orrery::render
