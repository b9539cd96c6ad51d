#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "compute/diagnostics/structure.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

/// By sorting the distances to all other bodies.
float plain_density(const std::vector<Vec4>& bodies, std::size_t of) {
  std::vector<std::pair<double, double>> others;  // squared distance, mass
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const double x = bodies[i].x - bodies[of].x, y = bodies[i].y - bodies[of].y, z = bodies[i].z - bodies[of].z;
    if (i != of) others.emplace_back(x * x + y * y + z * z, bodies[i].w);
  }
  std::ranges::sort(others);
  const std::size_t last = std::min<std::size_t>(density_neighbours, others.size()) - 1;
  double mass = 0;
  for (std::size_t i = 0; i < last; ++i) mass += others[i].second;
  return static_cast<float>(mass / (4 * std::numbers::pi / 3 * std::pow(others[last].first, 1.5)));
}

TEST(LocalDensity, IsThatOfTheNearestNeighbours) {
  for (const int count : {3, 16, 17, 100, 1500}) {
    SCOPED_TRACE(count);
    std::vector<Vec4> bodies = test::random_ball(count).positions;
    for (std::size_t i = 0; i < bodies.size(); i += 3) bodies[i].x = 10 + 0.01f * bodies[i].x;  // clumps and voids
    const std::vector<float> densities = local_densities(bodies, 2);
    ASSERT_EQ(densities.size(), bodies.size());
    for (std::size_t i = 0; i < bodies.size(); i += 7) {
      const float expected = plain_density(bodies, i);
      EXPECT_NEAR(densities[i], expected, 1e-4f * expected) << i;
    }
  }
}

TEST(LocalDensity, OfAnEvenCubeIsItsDensity) {
  std::mt19937 generator{1};
  std::uniform_real_distribution<float> uniform{0, 2};
  std::vector<Vec4> bodies(4000);
  for (Vec4& b : bodies) b = {uniform(generator), uniform(generator), uniform(generator), 1.0f / 500};
  std::vector<float> densities = local_densities(bodies, 1);
  std::ranges::nth_element(densities, densities.begin() + 2000);
  EXPECT_NEAR(densities[2000], 1, 0.15);
}

TEST(LocalDensity, IsNotKnownOfTooFewBodiesOrOneThatIsNotFinite) {
  for (const float density : local_densities(test::random_ball(2).positions, 1)) EXPECT_TRUE(std::isnan(density));
  EXPECT_TRUE(local_densities({}, 1).empty());
  std::vector<Vec4> bodies = test::random_ball(50).positions;
  bodies[7].y = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> densities = local_densities(bodies, 1);
  for (std::size_t i = 0; i < densities.size(); ++i) EXPECT_EQ(std::isnan(densities[i]), i == 7) << i;
}

TEST(LocalDensity, OfCoincidentBodiesIsInfinite) {
  for (const float density : local_densities(std::vector<Vec4>(3000, Vec4{1, 2, 3, 1}), 1)) {
    EXPECT_EQ(density, std::numeric_limits<float>::infinity());
  }
}

}  // namespace
}  // namespace orrery
