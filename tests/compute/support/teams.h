#pragma once

#include "compute/cuda/device.h"
#include "compute/kernels/kernel_sharing.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/test.h"

namespace orrery::test {

/// Lists of devices that divide evaluations. One GPU can stand for several, each with a stream and a kernel of its own.
inline std::vector<DeviceList> teams() {
  std::vector<DeviceList> lists{{.ordinals = {0, 0}}, {.ordinals = {0, 0, 0}}};
  if (cuda::devices().size() > 1) lists.push_back({.ordinals = {0, 1}});
  if (cuda::devices().size() > 1) lists.push_back({.ordinals = {0, 1, 0, 1}});
  if (cuda::devices().size() > 2) lists.push_back({.all = true, .ordinals = {}});
  return lists;
}

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

/// Devices of one process, or of ranks.
struct Way {
  DeviceList devices;
  bool ranks;
  std::string to_string() const { return (ranks ? "ranks on " : "devices ") + devices.to_string(); }
};

inline std::vector<Way> ways() {
  std::vector<Way> ways;
  for (const DeviceList& team : teams()) {
    for (const bool ranks : {false, true}) ways.push_back({team, ranks});
  }
  return ways;
}

/// The backends of several devices, in one of these ways.
class Several {
 public:
  explicit Several(const Way& way) {
    if (way.ranks) {
      ranks_.emplace(way.devices);
    } else {
      devices_.emplace(catalog(), way.devices);
    }
  }
  const Backends& backends() const { return ranks_ ? ranks_->backends() : *devices_; }

 private:
  std::optional<RanksOn> ranks_;
  std::optional<Backends> devices_;
};

}  // namespace orrery::test
