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
  compensated,  ///< a float and its low word, see low_words.h: steps lose no digits that a float has not
};

/// The state of a system in host memory, in units of G = 1. Both arrays have one entry per body, in the order in which
/// the bodies are drawn, selected and saved.
struct Bodies {
  std::vector<Vec4> positions;   ///< x, y, z and the mass (> 0) in w
  std::vector<Vec4> velocities;  ///< vx, vy, vz; w is unused and zero
  /// The low words of the coordinates, see low_words.h; w is unused and zero. Both are empty under Digits::single.
  std::vector<Vec4> positions_low{}, velocities_low{};

  int count() const noexcept { return static_cast<int>(positions.size()); }
  Digits digits() const noexcept { return positions_low.empty() ? Digits::single : Digits::compensated; }
  friend bool operator==(const Bodies&, const Bodies&) = default;
};

/// Entries of an array of low words for `count` bodies.
inline std::size_t low_words_of(int count, Digits digits) {
  return digits == Digits::single ? 0 : static_cast<std::size_t>(count);
}

/// The same state with these digits: without its low words, or with those that it has, or else with zeros.
inline Bodies with_digits(Bodies bodies, Digits digits) {
  if (digits == bodies.digits()) return bodies;
  const std::size_t size = low_words_of(bodies.count(), digits);
  bodies.positions_low.resize(size);
  bodies.velocities_low.resize(size);
  return bodies;
}

/// The masses of a system, all > 0. Steps leave them as they are.
struct MassRange {
  float least = 0, greatest = 0;
  bool equal() const noexcept { return least == greatest; }
  friend bool operator==(const MassRange&, const MassRange&) = default;
};

/// The masses in w of these positions; {0, 0} if there are none.
inline MassRange mass_range(std::span<const Vec4> positions) {
  if (positions.empty()) return {};
  const auto [least, greatest] = std::ranges::minmax(positions, {}, &Vec4::w);
  return {least.w, greatest.w};
}

}  // namespace orrery
