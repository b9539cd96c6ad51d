#include "compute/diagnostics/structure.h"

#include "compute/diagnostics/conserved.h"
#include "compute/scenes/scene.h"
#include "tests/compute/scenes/systems.h"
#include "tests/compute/support/random_ball.h"
#include "tests/test.h"

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

TEST(VirialRatio, IsExactOfAStarAndItsDiscWhereverTheStarIs) {
  for (const int place : {0, 1234, 3000}) {
    const VirialRatio all = virial_ratio(test::star_with_disc(3000, place), 1, 0);
    EXPECT_TRUE(all.exact());
    EXPECT_NEAR(all.ratio, 1, 2e-3);
    const VirialRatio sampled = virial_ratio(test::star_with_disc(3000, place), 1, 0, 400'000);
    EXPECT_FALSE(sampled.exact());
    EXPECT_NEAR(sampled.ratio, all.ratio, 1e-4) << "the star is never left to chance";
  }
}

TEST(VirialRatio, HasAnErrorThatCoversTheTruth) {
  Bodies cluster = find_scene("plummer").generate(3000, 7).bodies;
  for (const double slope : {0.0, 1.0, 3.0}) {  // masses over up to ten decades
    for (std::size_t i = 0; i < cluster.positions.size(); ++i) {
      cluster.positions[i].w = static_cast<float>(std::pow(1 + static_cast<double>(i * 7 % 3000), -slope));
    }
    const VirialRatio all = virial_ratio(cluster, 1, 0), sampled = virial_ratio(cluster, 1, 0, 600'000);
    EXPECT_EQ(all.error, 0);
    EXPECT_FALSE(sampled.exact());
    EXPECT_NEAR(sampled.ratio, all.ratio, 1.5 * sampled.error + 1e-6 * all.ratio) << slope;
    EXPECT_LT(sampled.error, 0.2 * all.ratio) << slope;
  }
}

TEST(VirialRatio, IsThatOfTheDiagnosticsInTheFrameOfTheCentreOfMass) {
  Bodies cluster = find_scene("plummer").generate(1000, 3).bodies;
  const Conserved sums = conserved(cluster, Law{.softening = 0.05f});
  EXPECT_NEAR(virial_ratio(cluster, 1, 0.05f).ratio, 2 * sums.kinetic / -sums.potential, 1e-6);
  for (Vec4& v : cluster.velocities) v.x += 10;
  EXPECT_NEAR(virial_ratio(cluster, 1, 0.05f).ratio, 2 * sums.kinetic / -sums.potential, 1e-4);
  EXPECT_NEAR(virial_ratio(cluster, 2, 0.05f).ratio, sums.kinetic / -sums.potential, 1e-4);
}

TEST(VirialRatio, IsNoNumberWithoutAPairThatAttracts) {
  EXPECT_TRUE(std::isnan(virial_ratio({{{1, 2, 3, 4}}, {{0, 1, 0, 0}}}, 1, 0).ratio));
  EXPECT_TRUE(std::isnan(virial_ratio({{{1, 2, 3, 4}, {1, 2, 3, 4}}, {{}, {0, 1, 0, 0}}}, 1, 0).ratio));
}

}  // namespace
}  // namespace orrery
