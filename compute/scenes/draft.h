// Bodies while a scene is made, and its softening.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "compute/core/bodies.h"
#include "compute/core/vec.h"
#include "compute/scenes/portable.h"

namespace orrery {

/// A body while its scene is being made: in double precision, so that the result is rounded only once.
struct DraftBody {
  double mass;
  Vec3d position;
  Vec3d velocity;
};

using Draft = std::vector<DraftBody>;

/// `count` bodies that are drawn one after the other, in drafts of at most `most` bodies each. Threads make these side
/// by side: the first has the random numbers of `seed`, and each other one numbers of its own, whatever the threads.
std::vector<Draft> drawn_in_parallel(int count, std::uint64_t seed, const std::function<DraftBody(Random&)>& draw,
                                     int most = 1 << 24);

/// Moves the centre of mass to the origin and to rest, and rounds to float.
Bodies finished(Draft draft);

/// The same of all bodies of several drafts, in their order.
Bodies finished(const std::vector<Draft>& drafts);

/// A softening length for `count` bodies, given one that suits 16,384. The distance between bodies falls as
/// count^(-1/3). Half that exponent keeps small systems smooth and the time steps of large ones long enough to watch.
inline double softening_for(int count, double at_16384) {
  return at_16384 * std::clamp(portable::pow(16384.0 / count, 1.0 / 6), 0.25, 3.0);
}

}  // namespace orrery
