#pragma once

#include <array>
#include <charconv>
#include <cmath>

namespace orrery {

/// The time step that the user named: of all decimals that round to this float, the one with the fewest digits. 0.01
/// rounds to a float of 0.00999999978, so that 60 steps of the float would end before t = 0.6. Times of states, rows
/// and snapshots count steps of this length; it differs from the float by at most 6e-8 of it.
inline double nominal_step(float time_step) {
  if (!std::isfinite(time_step)) return time_step;
  std::array<char, 32> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), time_step).ptr;
  double step = 0;
  std::from_chars(digits.data(), end, step);
  return step;
}

/// Returns how far a number of steps may be below a whole number and still count as it: the rounding of a time step
/// with more digits than a float, such as 1/3.
inline double rounding_of_steps(double steps) {
  constexpr double least = 1e-6, most = 0.25, of_float = 0x1p-24;
  return std::fmin(std::fmax(least, of_float * std::fabs(steps)), most);
}

}  // namespace orrery
