#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "compute/cuda/device.h"
#include "compute/devices/device_list.h"

namespace orrery::test {

/// Lists of devices that divide evaluations. One GPU can stand for several, each with a stream and a kernel of its own.
inline std::vector<DeviceList> teams() {
  std::vector<DeviceList> lists{{.ordinals = {0, 0}}, {.ordinals = {0, 0, 0}}};
  if (cuda::devices().size() > 1) lists.push_back({.ordinals = {0, 1}});
  if (cuda::devices().size() > 1) lists.push_back({.ordinals = {0, 1, 0, 1}});
  if (cuda::devices().size() > 2) lists.push_back({.all = true, .ordinals = {}});
  return lists;
}

/// `size` of `count` bodies, in any order.
inline std::vector<int> random_targets(int count, int size) {
  std::vector<int> targets(static_cast<std::size_t>(count));
  std::iota(targets.begin(), targets.end(), 0);
  std::ranges::shuffle(targets, std::mt19937{7});
  targets.resize(static_cast<std::size_t>(size));
  return targets;
}

}  // namespace orrery::test
