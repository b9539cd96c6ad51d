#include "compute/kernels/tree/shipment_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace orrery {
namespace {

/// Numbers of bodies that go from each device to each; some devices get none of others.
std::vector<int> random_going(int devices, int most) {
  std::mt19937 random{static_cast<unsigned>(devices)};
  std::vector<int> going(static_cast<std::size_t>(devices * devices));
  for (int& count : going) count = std::max(static_cast<int>(random() % static_cast<unsigned>(2 * most)) - most / 2, 0);
  return going;
}

TEST(ShipmentPlan, BringsEveryBodyToOnePlace) {
  for (const int devices : {2, 3, 7, 64}) {
    for (const int room : {1, 10, 37, 700, 1'000'000}) {
      if (devices == 64 && room < 100) continue;  // far more shipments than there ever are
      SCOPED_TRACE(std::to_string(devices) + " devices, " + std::to_string(room));
      const std::vector<int> going = random_going(devices, 40);
      const ShipmentPlan plan{devices, room, going};
      std::vector<int> left(static_cast<std::size_t>(devices));
      std::vector<std::vector<int>> came(left.size());  // by device: how often something was put at each place
      for (int to = 0; to < devices; ++to) {
        int all = 0;
        for (int from = 0; from < devices; ++from) all += going[static_cast<std::size_t>(from * devices + to)];
        came[static_cast<std::size_t>(to)].resize(static_cast<std::size_t>(all));
      }
      for (int shipment = 0; shipment < plan.shipments(); ++shipment) {
        for (int from = 0; from < devices; ++from) {
          int packed = 0;
          for (int to = 0; to < devices; ++to) {
            if (to == from) continue;
            const auto leaving = plan.leaving(shipment, from, to), arriving = plan.arriving(shipment, from, to);
            ASSERT_EQ(leaving.count, arriving.count);
            if (leaving.count == 0) continue;
            ASSERT_EQ(leaving.first, packed) << "one behind the other";
            packed += leaving.count;
            for (int i = 0; i < arriving.count; ++i) {
              ++came[static_cast<std::size_t>(to)].at(static_cast<std::size_t>(arriving.first + i));
            }
          }
          ASSERT_LE(packed, room);
          left[static_cast<std::size_t>(from)] += packed;
        }
      }
      for (int device = 0; device < devices; ++device) {
        const auto row = going.begin() + device * devices;
        const int stay = row[device];
        ASSERT_EQ(left[static_cast<std::size_t>(device)], std::accumulate(row, row + devices, 0) - stay);
        const std::vector<int>& places = came[static_cast<std::size_t>(device)];
        ASSERT_TRUE(std::all_of(places.begin(), places.begin() + stay, [](int n) { return n == 0; }))
            << "for those that stay";
        ASSERT_TRUE(std::all_of(places.begin() + stay, places.end(), [](int n) { return n == 1; }));
      }
    }
  }
}

TEST(ShipmentPlan, HasOneShipmentEvenIfNothingLeaves) {
  const std::vector<int> going{5, 0, 0, 7};
  const ShipmentPlan plan{2, 3, going};
  EXPECT_EQ(plan.shipments(), 1);
  EXPECT_EQ(plan.leaving(0, 0, 1).count, 0);
}

}  // namespace
}  // namespace orrery
