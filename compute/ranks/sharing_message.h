#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "compute/core/message.h"
#include "compute/kernels/rank_device.h"

namespace orrery {

inline void put_sharing(const Sharing& sharing, MessageWriter& message) {
  message.put_all(sharing.with_all);
  message.put_all(sharing.with_one);
  message.put(sharing.exchanges);
}
inline Sharing get_sharing(MessageReader& message) {
  Sharing sharing;
  message.get_all(sharing.with_all);
  message.get_all(sharing.with_one);
  sharing.exchanges = message.get<bool>();
  return sharing;
}

/// Of the blocks that one rank gets.
struct SharedBytes {
  std::size_t with_all, with_one;
  std::size_t all() const { return with_all + with_one; }
};
inline SharedBytes bytes_of(const Sharing& sharing) {
  const auto sum = [](const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  };
  return {sum(sharing.with_all), sum(sharing.with_one)};
}

}  // namespace orrery
