#pragma once

#include "compute/cuda/device.h"
#include "compute/devices/cuda_rank_device.h"
#include "compute/devices/device_list.h"
#include "tests/compute/ranks/rank_team.h"

namespace orrery::test {

/// Ranks, here threads: one per device of a list.
class RanksOn {
 public:
  explicit RanksOn(const DeviceList& list)
      : team_{static_cast<int>(list.all ? cuda::devices().size() : list.ordinals.size()), test::catalog(),
              cuda_rank_device},
        backends_{team_.catalog(), list} {}
  const Backends& backends() const { return backends_; }

 private:
  RankTeam team_;
  Backends backends_;
};

}  // namespace orrery::test
