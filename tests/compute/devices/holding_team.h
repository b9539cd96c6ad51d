#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "compute/devices/device_list.h"
#include "tests/compute/devices/ranks_on.h"
#include "tests/compute/support/backend.h"

namespace orrery::test {

enum class Holders { devices, ranks };

/// The devices of a list.
class HoldingTeam {
 public:
  HoldingTeam(const DeviceList& list, Holders holders) {
    if (holders == Holders::ranks) {
      ranks_.emplace(list);
    } else {
      alone_.emplace(catalog(), list);
    }
  }
  const Backends& backends() const { return ranks_ ? ranks_->backends() : *alone_; }

 private:
  std::optional<RanksOn> ranks_;
  std::optional<Backends> alone_;
};

inline std::string name_of_holders(const testing::TestParamInfo<Holders>& info) {
  return info.param == Holders::ranks ? "ranks" : "devices";
}

}  // namespace orrery::test
