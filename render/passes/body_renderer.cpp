#include "render/passes/body_renderer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/colour_map.h"
#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr unsigned position = 0, velocity = 1, value = 2;  // attributes of bodies.glsl#sprite_vertex

constexpr float widest_share = 0.02f;          // largest sprite radius in framed radii, for few bodies
constexpr float usual_radius = 0.65f;          // sprite radius in units of framed radius / sqrt(count)
constexpr float brightness = 0.7f;             // pi times the mean over the framed ball's disc, for exposure 1
constexpr float brightest = 24.0f;             // middle of a sprite, so that few bodies do not saturate
constexpr float least_large_radius_px = 3.5f;  // twice least_radius_px of bodies.glsl
constexpr float mean_profile = 0.25f;          // mean light of a sprite over its disc, see profile() of bodies.glsl

/// Values of `colour_by` in bodies.glsl.
struct ShownBy {
  static constexpr int computed = 0, none = 1, value = 2, part = 3;
};

int shown_by(const Appearance& appearance, unsigned values) {
  if (shows_values(appearance)) {
    return values == 0 ? ShownBy::none : shows_parts(appearance) ? ShownBy::part : ShownBy::value;
  }
  return appearance.colour_by->source == ColourBy::Source::computed ? ShownBy::computed : ShownBy::none;
}

void set_part_colours(const Program& program, Theme theme) {
  const auto colours = part_colours(theme);
  for (std::size_t i = 0; i < colours.size(); ++i)
    program.set("part_colours[" + std::to_string(i) + "]", linear_from_srgb(colours[i]));
  program.set("unknown_part_colour", linear_from_srgb(unknown_colour));
}

constexpr int stages = 3;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

struct Found {
  std::uint32_t distance = none, depth = none, index = none;
};

}  // namespace

Sprites::Sprites()
    : programs_{[](const std::string& preamble) {
        return Program{"bodies.glsl#sprite_vertex", "bodies.glsl#sprite_fragment", preamble};
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
constexpr int large_groups = 16384;  // maximum number of groups of splats.glsl#large: more take longer to start than to
                                     // work
constexpr int few_bodies = 131072;   // up to here, all bodies are sprites: their places are exact, and they cost little

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
    : clear_{program("splats.glsl#clear")},
      gather_{program("splats.glsl#gather")},
      splat_{[](const std::string& preamble) { return program("splats.glsl#splat", preamble); }},
      large_{[](const std::string& preamble) { return program("splats.glsl#large", preamble); }} {}

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
  // A texel's sum stays below 2^32. Splats would reach it only with four times the light of all bodies at the camera's
  // target. No sprite adds more than `intensity` to a pixel.
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

constexpr int first_ratio = 4, ratio = 2;  // ratio of the widths of the light and the first level; ratio of two levels

/// Returns the number of texels that cover `length`; the last one may extend beyond it.
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
    widen_.set("own_share", i == 0 ? 0.0f : 1.0f);  // texels of the first level would be visible
    glBindTextureUnit(0, levels_[i + 1].texture());
    glBindImageTexture(0, levels_[i].texture(), 0, GL_FALSE, 0, GL_READ_WRITE, GL_RGBA16F);
    dispatch_over(widen_, levels_[i].width(), levels_[i].height());
  }
  return levels_[0].texture();
}

namespace {

using Block = std::array<std::uint32_t, 65>;  // Exposure of tone_map.glsl: the exposure and 64 bins

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
  program.emplace(ComputeShader{"tone_map.glsl#tone_map", preamble});
  if (!parts) program->set("unknown_colour", linear_from_srgb(unknown_colour));
  return *program;
}

void ToneMap::draw(const RenderTarget& light, unsigned glow, const Appearance& appearance,
                   const RenderTarget& picture) {
  const bool parts = shows_parts(appearance) && light.format() == GL_RGBA32F;  // otherwise, there are no values yet
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

BodyLight body_light(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                     const ValueRanges& ranges, int width, int height) {
  constexpr float pi = std::numbers::pi_v<float>;
  const auto across = static_cast<float>(width), up = static_cast<float>(height);
  const auto count = static_cast<float>(bodies.count);
  const float framed = camera.framed_radius();
  BodyLight light{};
  light.view = camera.view();
  light.projection = camera.projection(across / up);
  light.pixels_per_tangent = 0.5f * up * light.projection[1][1];
  light.radius = framed * std::min(usual_radius / std::sqrt(count), widest_share) * appearance.sprite_scale;
  light.large_radius_px = std::max(least_large_radius_px, 0.006f * std::min(across, up));
  // The light of the whole framed ball is independent of the number of bodies.
  const float of_one = brightness * framed * framed / count;
  light.intensity = std::min(of_one / (mean_profile * pi * light.radius * light.radius), brightest);
  light.colour_by = shown_by(appearance, bodies.values);
  light.glsl = appearance.colour_by->glsl;
  const ColourScale scale = colour_scale(appearance, ranges);
  light.logarithmic = scale.logarithmic;
  light.colour_range = {scale.range.low, scale.range.high};
  if (scale.logarithmic) light.colour_range = glm::log(light.colour_range);
  light.theme = appearance.theme;
  light.normal_mass = ranges.mass.high;
  light.weigh_mass = appearance.look == Look::density;
  if (light.weigh_mass) light.intensity = ranges.mass.high / (mean_profile * pi * light.radius * light.radius);
  const float radius_px = light.radius * light.pixels_per_tangent / camera.distance();
  light.light_at_target = light.intensity * mean_profile * pi * radius_px * radius_px;
  return light;
}

const Program& BodyPrograms::of(const BodyLight& light) {
  if (light.colour_by != ShownBy::computed && !programs_.empty()) return programs_.front().second;
  const std::string_view glsl = light.colour_by == ShownBy::computed ? light.glsl : by_speed.glsl;
  for (const auto& [its, program] : programs_) {
    if (its == glsl) return program;
  }
  return programs_.emplace_back(glsl, make_("#define COMPUTED_VALUE " + std::string{glsl} + "\n")).second;
}

void set_body_place(const Program& program, const BodyLight& light) {
  program.set("view", light.view);
  program.set("projection", light.projection);
  program.set("pixels_per_tangent", light.pixels_per_tangent);
  program.set("radius", light.radius);
  program.set("normal_mass", light.normal_mass);
}

void set_body_light(const Program& program, const BodyLight& light) {
  set_body_place(program, light);
  program.set("weigh_mass", light.weigh_mass ? 1 : 0);
  program.set("intensity", light.intensity);
  program.set("colour_by", light.colour_by);
  program.set("colour_range", light.colour_range);
  program.set("logarithmic", light.logarithmic ? 1 : 0);
  if (light.colour_by == ShownBy::part) set_part_colours(program, light.theme);
}

Pick::Pick() : program_{ComputeShader{"bodies.glsl#pick"}}, found_{sizeof(Found)} {}

std::optional<int> Pick::at(glm::vec2 place, float reach_px, const DrawnBodies& bodies, const BodyLight& body_light,
                            int width, int height) {
  if (!std::isfinite(place.x) || !std::isfinite(place.y)) return std::nullopt;
  set_body_place(program_, body_light);
  program_.set("large_radius_px", body_light.large_radius_px);
  program_.set("size", glm::vec2{width, height});
  program_.set("place", place);
  program_.set("reach_px", reach_px);
  std::array found{Found{}};
  found_.upload(std::as_bytes(std::span{found}));
  bind_storage(1, found_);
  for (int stage = 0; stage < stages; ++stage) {
    program_.set("stage", stage);
    for (int first = 0; first < bodies.count; first += most_bodies_per_dispatch) {
      const int count = std::min(bodies.count - first, most_bodies_per_dispatch);
      glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, bodies.buffer, GLintptr{16} * first, GLsizeiptr{16} * count);
      program_.set("first", first);
      program_.set("count", count);
      dispatch_over(program_, static_cast<std::size_t>(count));
    }
  }
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  found_.download(std::as_writable_bytes(std::span{found}));
  if (found[0].index == none) return std::nullopt;
  return static_cast<int>(found[0].index);
}

}  // namespace orrery::render
