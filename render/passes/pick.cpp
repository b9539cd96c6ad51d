#include "render/passes/pick.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

constexpr int stages = 3;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

struct Found {
  std::uint32_t distance = none, depth = none, index = none;
};

}  // namespace

Pick::Pick() : program_{ComputeShader{"pick.comp"}}, found_{sizeof(Found)} {}

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
