#include "render/passes/body_renderer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/colour_map.h"
#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr unsigned position = 0, velocity = 1, value = 2;  // attributes of sprite.vert

}  // namespace

Sprites::Sprites()
    : programs_{[](const std::string& preamble) {
        return Program{"sprite.vert", "sprite.frag", preamble};
      }},
      array_{make_vertex_array()} {
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
  const Program& program = programs_.of(body_light);
  set_body_light(program, body_light);
  program.set("large_radius_px", body_light.large_radius_px);

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
  glUseProgram(program.id());
  glDrawArrays(GL_POINTS, 0, bodies.count);
  glDisable(GL_BLEND);
}

namespace {

constexpr std::size_t texel_bytes = 8;
constexpr int large_groups = 16384;  // of large.comp, at most: more start more slowly than they work
constexpr int few_bodies = 131072;   // up to here all bodies are sprites: their places are exact, and they cost little

constexpr std::string_view with_int64 =
    "#extension GL_NV_gpu_shader5 : require\n"
    "#extension GL_NV_shader_atomic_int64 : require\n"
    "#define ATOMIC_INT64\n";

Program program(std::string_view file, const std::string& preamble = {}) {
  const std::string lines = (Splats::fast_here() ? std::string{with_int64} : std::string{}) + preamble;
  return Program{ComputeShader{file, lines}};
}

std::size_t pixels_of(int width, int height) {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

}  // namespace

Splats::Splats()
    : clear_{program("clear.comp")},
      gather_{program("gather.comp")},
      splat_{[](const std::string& preamble) { return program("splat.comp", preamble); }},
      large_{[](const std::string& preamble) { return program("large.comp", preamble); }} {}

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
  const Program &splat = splat_.of(body_light), &large = large_.of(body_light), &clear = clear_, &gather = gather_;
  for (const Program* program : {&clear, &splat, &gather}) program->set("with_splats", with_splats ? 1 : 0);
  bind_storage(0, splats_);
  bind_storage(1, sprites_);
  bind_storage(2, large_bodies_);
  dispatch_over(clear_, (with_splats ? splats_ : sprites_).size_bytes() / texel_bytes);

  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, bodies.buffer);
  if (bodies.values != 0) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 3, bodies.values);
  for (const Program* program : {&splat, &large}) {
    set_body_light(*program, body_light);
    program->set("count", bodies.count);
    program->set("size", glm::ivec2{width, height});
  }
  splat.set("quanta", splat_quanta);
  splat.set("values_at", 4 * pixels);
  bind_storage(1, splats_);
  dispatch_over(splat, static_cast<std::size_t>(bodies.count));
  large.set("quanta", sprite_quanta);
  large.set("values_at", pixels);
  large.set("large_radius_px", body_light.large_radius_px);
  bind_storage(1, sprites_);
  dispatch(large, std::min(bodies.count, large_groups));

  gather_.set("values_at", glm::ivec2{4 * pixels, pixels});
  gather_.set("splat_quanta", splat_quanta);
  gather_.set("sprite_quanta", sprite_quanta);
  bind_storage(0, splats_);
  glBindImageTexture(0, light.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, light.format());
  dispatch_over(gather_, width, height);
}

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

namespace {

using ColourOf = glm::vec3 (*)(const ColourMap& map, float at, Theme theme);

Texture make_colours(ColourOf colour_of, Theme theme) {
  constexpr int samples = 1024;
  const auto maps = colour_maps();
  const int rows = static_cast<int>(maps.size());
  Texture texture = make_texture_2d(GL_RGBA32F, samples, rows);
  std::vector<glm::vec4> row(samples);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < samples; ++x) {
      const float at = static_cast<float>(x) / (samples - 1);
      row[static_cast<std::size_t>(x)] = {colour_of(maps[static_cast<std::size_t>(y)], at, theme), 1.0f};
    }
    glTextureSubImage2D(texture.id(), 0, 0, y, samples, 1, GL_RGBA, GL_FLOAT, row.data());
  }
  return texture;
}

}  // namespace

ToneMap::ToneMap() {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const auto at = static_cast<std::size_t>(theme);
    colours_[static_cast<std::size_t>(Look::lights)][at] = make_colours(body_colour, theme);
    colours_[static_cast<std::size_t>(Look::density)][at] = make_colours(density_colour, theme);
  }
}

const Program& ToneMap::lights_program(Theme theme, bool parts) {
  std::optional<Program>& program = lights_programs_[static_cast<std::size_t>(theme)][parts ? 1 : 0];
  if (program) return *program;
  std::string preamble;
  if (theme == Theme::light) preamble += "#define INK\n";
  if (parts) preamble += "#define PARTS\n";
  program.emplace(ComputeShader{"tone_map.comp", preamble});
  if (!parts) program->set("unknown_colour", linear_from_srgb(unknown_colour));
  return *program;
}

void ToneMap::draw(const RenderTarget& light, unsigned glow, const Appearance& appearance,
                   const RenderTarget& picture) {
  const bool parts = shows_parts(appearance) && light.format() == GL_RGBA32F;  // else there are no values yet
  const Program& program = lights_program(appearance.theme, parts);
  program.set("exposure", appearance.exposure);
  program.set("auto_exposure", appearance.auto_exposure ? 1 : 0);
  if (!parts) program.set("colour_map", shown_colour_map(appearance));
  glBindTextureUnit(1, glow);
  fill(program, light, appearance, picture);
}

void ToneMap::draw_density(const RenderTarget& density, const ColourScale& scale, const Appearance& appearance,
                           const RenderTarget& picture) {
  const glm::vec2 ends{scale.range.low, scale.range.high};
  density_program_.set("range", scale.logarithmic ? glm::log(ends) : ends);
  density_program_.set("logarithmic", scale.logarithmic ? 1 : 0);
  density_program_.set("colour_map", shown_colour_map(appearance));
  fill(density_program_, density, appearance, picture);
}

void ToneMap::fill(const Program& program, const RenderTarget& light, const Appearance& appearance,
                   const RenderTarget& picture) const {
  const Texture& colours =
      colours_[static_cast<std::size_t>(appearance.look)][static_cast<std::size_t>(appearance.theme)];
  glBindTextureUnit(0, light.texture());
  glBindTextureUnit(2, colours.id());
  glBindImageTexture(0, picture.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
  dispatch_over(program, picture.width(), picture.height());
}

Drawing BodyRenderer::chosen(Drawing asked, int count) const {
  const bool wanted = asked == Drawing::splats || (asked == Drawing::automatic && splats_are_fast_);
  const bool possible = Splats::can_draw(count, light_.width(), light_.height(), light_.format() == GL_RGBA32F);
  return wanted && possible ? Drawing::splats : Drawing::sprites;
}

void BodyRenderer::draw(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                        const ValueRanges& ranges, const RenderTarget& picture) {
  const int width = picture.width(), height = picture.height();
  const unsigned format = shows_values(appearance) && bodies.values != 0 ? GL_RGBA32F : GL_RG32F;
  if (light_.width() != width || light_.height() != height || light_.format() != format) {
    light_ = {};  // frees the old memory first
    light_ = RenderTarget{format, width, height};
  }
  if (bodies.count <= 0) {
    constexpr float dark[4] = {};
    glClearNamedFramebufferfv(light_.framebuffer(), GL_COLOR, 0, dark);
  } else {
    const BodyLight body_light = orrery::render::body_light(bodies, camera, appearance, ranges, width, height);
    drawn_ = chosen(appearance.drawing, bodies.count);
    if (drawn_ == Drawing::splats) {
      if (!splats_) splats_.emplace();
      splats_->draw(bodies, body_light, light_);
    } else {
      sprites_.draw(bodies, body_light, light_);
    }
  }
  if (appearance.look == Look::density) {
    tone_map_.draw_density(light_, colour_scale(appearance, ranges), appearance, picture);
  } else {
    if (appearance.auto_exposure) {
      if (!meter_) meter_.emplace();
      meter_->measure(light_);
    } else {
      meter_.reset();
    }
    tone_map_.draw(light_, glow_.make(light_), appearance, picture);
  }
}

}  // namespace orrery::render
