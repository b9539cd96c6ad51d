#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// How many digits the positions and velocities of a running system keep.
enum class Digits {
  single,       ///< one float per coordinate
  compensated,  ///< a float and its low word, see DoubleFloat: steps lose no digits that a float has not
};

/// The state of a system in host memory, in units of G = 1. Both arrays have one entry per body, in the order in which
/// the bodies are drawn, selected and saved.
struct Bodies {
  std::vector<Vec4> positions;   ///< x, y, z and the mass (> 0) in w
  std::vector<Vec4> velocities;  ///< vx, vy, vz; w is unused and zero
  /// The low words of the coordinates, see DoubleFloat; w is unused and zero. Both are empty under Digits::single.
  std::vector<Vec4> positions_low{}, velocities_low{};

  int count() const noexcept { return static_cast<int>(positions.size()); }
  Digits digits() const noexcept { return positions_low.empty() ? Digits::single : Digits::compensated; }
  friend bool operator==(const Bodies&, const Bodies&) = default;
};

/// Number of entries in an array of low words for `count` bodies.
inline std::size_t low_words_of(int count, Digits digits) {
  return digits == Digits::single ? 0 : static_cast<std::size_t>(count);
}

/// Returns the same state with these digits. Low words that it does not have become zeros.
inline Bodies with_digits(Bodies bodies, Digits digits) {
  if (digits == bodies.digits()) return bodies;
  const std::size_t size = low_words_of(bodies.count(), digits);
  bodies.positions_low.resize(size);
  bodies.velocities_low.resize(size);
  return bodies;
}

/// Range of the masses of a system, all > 0. Steps do not change masses.
struct MassRange {
  float least = 0, greatest = 0;
  bool equal() const noexcept { return least == greatest; }
  friend bool operator==(const MassRange&, const MassRange&) = default;
};

/// Returns the range of the masses, which are in w; {0, 0} if there are no bodies.
inline MassRange mass_range(std::span<const Vec4> positions) {
  if (positions.empty()) return {};
  const auto [least, greatest] = std::ranges::minmax(positions, {}, &Vec4::w);
  return {least.w, greatest.w};
}

/// A body at the start of its own step.
struct alignas(16) HermiteBody {
  PreciseBody body;
  Pull pull;
  double longest_step = 0;  ///< the longest step that suits it, see compute/integrators/hermite.h
};

/// State that a Hermite integrator keeps from step to step, besides the bodies that it writes.
struct HermiteState {
  std::vector<HermiteBody> bodies{};  ///< empty: the integrator starts again
  bool pulls_current = false;         ///< pulls and longest steps are those of the current kernel and law
};

}  // namespace orrery
