#include "compute/integrators/update.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace orrery {
namespace {

int kick_drift(std::vector<Vec4>& positions, std::vector<Vec4>& velocities, const std::vector<Vec4>& accelerations,
               double kick_dt, float drag, double drift_dt) {
  const StateArrays arrays{
      .positions = positions.data(), .velocities = velocities.data(), .accelerations = accelerations.data()};
  return orrery::kick_drift(arrays, static_cast<int>(positions.size()), kick_dt, drag, drift_dt);
}

TEST(KickDrift, KicksThenDrifts) {
  std::vector<Vec4> positions{{1, 2, 3, 4}, {0, 0, 0, 2}};
  std::vector<Vec4> velocities{{1, 0, -1, 0}, {0, 8, 0, 0}};
  const std::vector<Vec4> accelerations{{2, 4, 6, 0}, {0, 0, 1, 0}};
  kick_drift(positions, velocities, accelerations, /*kick_dt=*/0.5, /*drag=*/0, /*drift_dt=*/2);
  EXPECT_EQ(velocities, (std::vector<Vec4>{{2, 2, 2, 0}, {0, 8, 0.5f, 0}}));
  EXPECT_EQ(positions, (std::vector<Vec4>{{5, 6, 7, 4}, {0, 16, 1, 2}})) << "with the velocities after the kick";
}

TEST(KickDrift, DragActsOnTheVelocityByMass) {
  std::vector<Vec4> positions{{0, 0, 0, 4}};
  std::vector<Vec4> velocities{{8, -8, 0, 0}};
  kick_drift(positions, velocities, std::vector<Vec4>(1), /*kick_dt=*/0.5, /*drag=*/1, /*drift_dt=*/0);
  EXPECT_EQ(velocities.front(), (Vec4{7, -7, 0, 0})) << "v - (1 / 4) v / 2";
  EXPECT_EQ(positions.front(), (Vec4{0, 0, 0, 4}));
}

TEST(KickDrift, WithoutAKickReadsNoAccelerationsAndDragsNothing) {
  std::vector<Vec4> positions{{1, 1, 1, 1}};
  std::vector<Vec4> velocities{{1, 2, 3, 0}};
  kick_drift(positions, velocities, {}, /*kick_dt=*/0, /*drag=*/5, /*drift_dt=*/2);
  EXPECT_EQ(velocities.front(), (Vec4{1, 2, 3, 0}));
  EXPECT_EQ(positions.front(), (Vec4{3, 5, 7, 1}));
}

TEST(KickDrift, TakesNoBodies) {
  EXPECT_EQ(orrery::kick_drift({}, 0, 1, 0, 1), -1);
}

TEST(KickDrift, NamesTheFirstBodyThatIsNotFiniteAfterwards) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), huge = std::numeric_limits<float>::max();
  const std::vector<Vec4> at_rest(4, Vec4{0, 0, 0, 1}), still(4), none(4);
  const auto first = [&](auto change) {
    std::vector<Vec4> positions = at_rest, velocities = still, accelerations = none;
    change(positions, velocities, accelerations);
    const int body = kick_drift(positions, velocities, accelerations, 2, 0, 2);
    EXPECT_EQ(body, first_not_finite(positions, velocities));
    return body;
  };
  EXPECT_EQ(first([](auto&, auto&, auto&) {}), -1);
  EXPECT_EQ(first([](auto& x, auto&, auto&) { x[3].y = nan; }), 3);
  EXPECT_EQ(first([](auto& x, auto&, auto&) { x[2].w = nan; }), 2) << "a mass";
  EXPECT_EQ(first([](auto& x, auto& v, auto&) { x[3].y = nan, v[1].z = -nan; }), 1);
  EXPECT_EQ(first([](auto&, auto& v, auto&) { v[2].x = huge; }), 2) << "the drift overflows";
  EXPECT_EQ(first([](auto&, auto&, auto& a) { a[1].x = huge; }), 1) << "the kick overflows";
}

}  // namespace
}  // namespace orrery
