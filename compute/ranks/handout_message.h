#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "compute/core/message.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

inline void put_handout(const Handout& handout, MessageWriter& message) {
  message.put_all(handout.with_all);
  message.put_all(handout.with_one);
  message.put(handout.exchanges);
}
inline Handout get_handout(MessageReader& message) {
  Handout handout;
  message.get_all(handout.with_all);
  message.get_all(handout.with_one);
  handout.exchanges = message.get<bool>();
  return handout;
}

/// Of the blocks that one rank gets.
struct SharedBytes {
  std::size_t with_all, with_one;
  std::size_t all() const { return with_all + with_one; }
};
inline SharedBytes bytes_of(const Handout& handout) {
  const auto sum = [](const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  };
  return {sum(handout.with_all), sum(handout.with_one)};
}

}  // namespace orrery
