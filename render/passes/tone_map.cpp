#include "render/passes/tone_map.h"

#include <string>
#include <vector>

#include "render/colour_map.h"
#include "render/gl/gl.h"

namespace orrery::render {
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

}  // namespace orrery::render
