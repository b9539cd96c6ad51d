#include "app/overlays/crowding.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace orrery {
namespace {

/// Squares at equal places of the columns and rows share a sum: they are some heights of the picture apart.
constexpr int side_of_grid = 128;

/// The shares of a place in the four squares whose middles are nearest.
struct Shares {
  std::array<std::size_t, 4> squares{};
  std::array<float, 4> weights{};
};

/// `at` in sides of a square.
Shares shares_of(glm::vec2 at) {
  constexpr float outermost = 1e6f;
  at = glm::clamp(at, -outermost, outermost);
  const glm::vec2 low = glm::floor(at), part = at - low;
  const auto column = static_cast<unsigned>(static_cast<int>(low.x)),
             row = static_cast<unsigned>(static_cast<int>(low.y));
  Shares shares;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned right = i % 2, up = i / 2;
    shares.squares[i] = (row + up) % side_of_grid * side_of_grid + (column + right) % side_of_grid;
    shares.weights[i] = (right ? part.x : 1 - part.x) * (up ? part.y : 1 - part.y);
  }
  return shares;
}

}  // namespace

std::vector<float> crowd_around(std::span<const Amount> amounts, const render::OrbitCamera& camera, float side) {
  const glm::mat4 seen = camera.projection(1) * camera.view();
  std::vector<float> sums(side_of_grid * side_of_grid);
  std::vector<Shares> shares;
  shares.reserve(amounts.size());
  for (const auto& [place, amount] : amounts) {
    const glm::vec4 clip = seen * glm::vec4{place, 1};
    const glm::vec2 at = glm::vec2{clip} / (clip.w * 2 * side);
    shares.push_back(clip.w > 0 && std::isfinite(at.x + at.y) ? shares_of(at) : Shares{});
    for (std::size_t i = 0; i < 4; ++i) sums[shares.back().squares[i]] += shares.back().weights[i] * amount;
  }
  std::vector<float> crowds;
  crowds.reserve(amounts.size());
  for (const Shares& at : shares) {
    float crowd = 0;
    for (std::size_t i = 0; i < 4; ++i) crowd += at.weights[i] * sums[at.squares[i]];
    crowds.push_back(crowd);
  }
  return crowds;
}

}  // namespace orrery
