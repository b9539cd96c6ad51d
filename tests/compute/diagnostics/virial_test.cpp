#include <gtest/gtest.h>

#include <cmath>

#include "compute/diagnostics/conserved.h"
#include "compute/diagnostics/structure.h"
#include "compute/scenes/scene.h"
#include "tests/compute/scenes/systems.h"

namespace orrery {
namespace {

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
