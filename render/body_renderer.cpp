#include "render/body_renderer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "render/colour_map.h"
#include "render/gl.h"

namespace orrery::render {
namespace {

constexpr int colour_samples = 256;
constexpr float least_radius_px = 1.75f;  // below, a sprite would miss pixel centres and flicker as it moves
constexpr float widest_share = 0.02f;     // largest sprite radius in framed radii, for few bodies
constexpr float usual_radius = 0.65f;     // sprite radius in units of framed radius / sqrt(count)
constexpr float brightness = 0.7f;        // pi times the mean over the framed ball's disc, for exposure 1
constexpr float brightest = 24.0f;        // middle of a sprite, so that few bodies do not saturate
constexpr float narrowest_glow = 0.3f;    // share of the first level, whose texels would show

Texture make_colours() {
  const auto maps = colour_maps();
  const int rows = static_cast<int>(maps.size());
  Texture texture = make_texture_2d(GL_RGBA16F, colour_samples, rows);
  std::vector<glm::vec4> row(colour_samples);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < colour_samples; ++x) {
      const float at = static_cast<float>(x) / (colour_samples - 1);
      row[static_cast<std::size_t>(x)] = {linear_colour(maps[static_cast<std::size_t>(y)], at), 1.0f};
    }
    glTextureSubImage2D(texture.id(), 0, 0, y, colour_samples, 1, GL_RGBA, GL_FLOAT, row.data());
  }
  return texture;
}

void draw_screen(unsigned framebuffer, int width, int height, const Program& program, unsigned texture) {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, width, height);
  glUseProgram(program.id());
  glBindTextureUnit(0, texture);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

}  // namespace

BodyRenderer::BodyRenderer()
    : body_array_{make_vertex_array()}, no_array_{make_vertex_array()}, colours_{make_colours()} {
  for (unsigned attribute = 0; attribute < 2; ++attribute) {
    glEnableVertexArrayAttrib(body_array_.id(), attribute);
    glVertexArrayAttribFormat(body_array_.id(), attribute, 4, GL_FLOAT, GL_FALSE, 0);
    glVertexArrayAttribBinding(body_array_.id(), attribute, attribute);
  }
}

void BodyRenderer::draw(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                        const ValueRanges& ranges, const Canvas& canvas) {
  if (canvas.width <= 0 || canvas.height <= 0) return;
  if (canvas.width != light_.width() || canvas.height != light_.height()) resize(canvas.width, canvas.height);
  for (const GLenum off : {GL_DEPTH_TEST, GL_CULL_FACE, GL_SCISSOR_TEST, GL_FRAMEBUFFER_SRGB}) glDisable(off);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFunc(GL_ONE, GL_ONE);
  draw_sprites(bodies, camera, appearance, ranges);
  glBindVertexArray(no_array_.id());
  draw_glow();

  programs_.finish.set("exposure", appearance.exposure);
  glBindTextureUnit(1, glow_[0].texture());
  draw_screen(canvas.framebuffer, canvas.width, canvas.height, programs_.finish, light_.texture());
}

void BodyRenderer::resize(int width, int height) {
  light_ = RenderTarget{GL_RGBA16F, width, height};
  int divisor = 4;
  for (RenderTarget& level : glow_) {
    level = RenderTarget{GL_RGBA16F, std::max(width / divisor, 1), std::max(height / divisor, 1)};
    divisor *= 2;
  }
}

void BodyRenderer::draw_sprites(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                                const ValueRanges& ranges) {
  glBindFramebuffer(GL_FRAMEBUFFER, light_.framebuffer());
  glViewport(0, 0, light_.width(), light_.height());
  constexpr float dark[4] = {};
  glClearNamedFramebufferfv(light_.framebuffer(), GL_COLOR, 0, dark);
  if (bodies.count <= 0) return;

  const auto width = static_cast<float>(light_.width()), height = static_cast<float>(light_.height());
  const glm::mat4 projection = camera.projection(width / height);
  const auto count = static_cast<float>(bodies.count);
  const float framed = camera.framed_radius();
  const Program& program = programs_.bodies;
  program.set("view", camera.view());
  program.set("projection", projection);
  program.set("pixels_per_tangent", 0.5f * height * projection[1][1]);
  const float radius = framed * std::min(usual_radius / std::sqrt(count), widest_share) * appearance.sprite_scale;
  program.set("radius", radius);
  program.set("least_radius_px", least_radius_px);
  program.set("large_radius_px", std::max(2.0f * least_radius_px, 0.006f * std::min(width, height)));
  // The total light of the framed ball does not depend on the number of bodies. The mean of the sprite's profile
  // (1 - r^2)^3 over its disc is a quarter.
  const float light = brightness * framed * framed / count;
  program.set("intensity", std::min(4.0f * light / (std::numbers::pi_v<float> * radius * radius), brightest));
  program.set("by_mass", appearance.colour_by == ColourBy::mass ? 1 : 0);
  program.set("speed_range", glm::vec2{ranges.speed.low, ranges.speed.high});
  program.set("mass_range", glm::vec2{ranges.mass.low, ranges.mass.high});
  program.set("colour_map", std::clamp(appearance.colour_map, 0, static_cast<int>(colour_maps().size()) - 1));

  constexpr GLintptr stride = 16;
  glVertexArrayVertexBuffer(body_array_.id(), 0, bodies.buffer, 0, stride);
  glVertexArrayVertexBuffer(body_array_.id(), 1, bodies.buffer, bodies.count * stride, stride);
  glBindVertexArray(body_array_.id());
  glUseProgram(program.id());
  glBindTextureUnit(0, colours_.id());
  glDrawArrays(GL_POINTS, 0, bodies.count);
}

void BodyRenderer::draw_glow() {
  glDisable(GL_BLEND);
  unsigned source = light_.texture();
  for (const RenderTarget& level : glow_) {
    draw_screen(level.framebuffer(), level.width(), level.height(), programs_.reduce, source);
    source = level.texture();
  }
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_CONSTANT_ALPHA);  // each level adds the wider one to its own share
  for (int level = glow_levels - 2; level >= 0; --level) {
    const RenderTarget& to = glow_[level];
    glBlendColor(0.0f, 0.0f, 0.0f, level == 0 ? narrowest_glow : 1.0f);
    draw_screen(to.framebuffer(), to.width(), to.height(), programs_.enlarge, glow_[level + 1].texture());
  }
  glDisable(GL_BLEND);
}

}  // namespace orrery::render
