#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace orrery {

struct SpeedError {
  double error;  ///< less is better
  double rate;   ///< more is better
};

/// Indices of the points that no other point beats, from the least error to the greatest rate: none is at least as good
/// in both and better in one. Of equal points all are kept. A point whose error or rate is not finite is never among
/// them.
std::vector<std::size_t> pareto_front(std::span<const SpeedError> points);

}  // namespace orrery
