#pragma once

#include <glm/glm.hpp>

#include "render/appearance.h"
#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"
#include "render/image.h"
#include "render/passes/body_renderer.h"
#include "tests/test.h"

namespace orrery::render::test {

/// Ways to colour bodies, one for each path of the renderer.
inline constexpr ColourBy by_mass{
    .source = ColourBy::Source::computed, .glsl = "position.w", .range = &ValueRanges::mass};
inline constexpr ColourBy by_value{.source = ColourBy::Source::values};
inline constexpr ColourBy by_part{.source = ColourBy::Source::parts, .map = "stellar"};
inline constexpr ColourBy by_nothing{.source = ColourBy::Source::none, .map = "stellar"};

/// A context and a renderer, what to draw with them, and the picture that comes of it. Bodies are one per unit of mass.
struct Stage {
  OffscreenContext context;
  BodyRenderer renderer;
  OrbitCamera camera;
  Appearance appearance;
  ValueRanges ranges{{0.0f, 1.0f}, {1.0f, 1.0f}};
  std::vector<float> values{};  ///< see DrawnBodies::values; empty: none

  Image picture(std::span<const glm::vec4> positions, std::span<const glm::vec4> velocities, int width, int height) {
    std::vector<glm::vec4> arrays{positions.begin(), positions.end()};
    arrays.insert(arrays.end(), velocities.begin(), velocities.end());
    Buffer buffer{std::as_bytes(std::span{arrays}).size()};
    buffer.upload(std::as_bytes(std::span{arrays}));
    const RenderTarget target{GL_RGBA8, width, height};
    Buffer value_buffer;
    if (!values.empty()) {
      value_buffer = Buffer{std::as_bytes(std::span{values}).size()};
      value_buffer.upload(std::as_bytes(std::span{values}));
    }
    const DrawnBodies bodies{buffer.id(), static_cast<int>(positions.size()), value_buffer.id()};
    renderer.draw(bodies, camera, appearance, ranges, target);
    return read_framebuffer(target.framebuffer(), width, height);
  }
  Image picture(const std::vector<glm::vec4>& positions, int width = 129, int height = 129) {
    return picture(positions, std::vector<glm::vec4>(positions.size()), width, height);
  }
};

inline glm::ivec3 pixel(const Image& image, int x, int y) {
  const auto at =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
}
inline int brightness(glm::ivec3 colour) {
  return colour.r + colour.g + colour.b;
}

}  // namespace orrery::render::test
