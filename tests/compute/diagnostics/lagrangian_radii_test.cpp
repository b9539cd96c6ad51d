#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "compute/diagnostics/structure.h"
#include "compute/scenes/scene.h"

namespace orrery {
namespace {

constexpr std::array shares{0.1, 0.5, 0.9, 1.0};

TEST(LagrangianRadii, OfEqualBodiesOnALine) {
  Bodies line;
  for (int i = -50; i <= 50; ++i) {
    line.positions.push_back({5 + static_cast<float>(i), 7, 0, 2});
    line.velocities.push_back({});
  }
  const std::vector<double> radii = lagrangian_radii(line, shares);
  EXPECT_EQ(radii, (std::vector<double>{5, 25, 45, 50}));
}

TEST(LagrangianRadii, OfAPlummerSphereAreThoseOfTheory) {
  const Bodies bodies = find_scene("plummer").generate(20000, 1).bodies;
  const std::vector<double> radii = lagrangian_radii(bodies, shares);
  const auto theory = [](double share) { return 3 * M_PI / 16 / std::sqrt(std::pow(share, -2.0 / 3) - 1); };
  EXPECT_NEAR(radii[0] / theory(0.1), 1, 0.03);
  EXPECT_NEAR(radii[1] / theory(0.5), 1, 0.03);
}

TEST(LagrangianRadii, AreNoNumbersWhereABodyIsNone) {
  Bodies bodies = find_scene("plummer").generate(100, 1).bodies;
  bodies.positions[7].x = std::numeric_limits<float>::infinity();
  for (const double radius : lagrangian_radii(bodies, shares)) EXPECT_TRUE(std::isnan(radius));
}

}  // namespace
}  // namespace orrery
