#include "compute/diagnostics/conserved.h"

#include "compute/diagnostics/reference.h"
#include "compute/scenes/scene.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(ConservedTest, AgreesWithTwoBodiesByHand) {
  const Bodies bodies{{{0, 0, 0, 3}, {3, 4, 0, 2}}, {{0, 0, 1, 0}, {-1, 2, 0, 0}}};
  const Law gravity{.softening = 1e-6f};
  const Conserved sums = conserved(bodies, gravity);
  EXPECT_DOUBLE_EQ(sums.kinetic, 0.5 * 3 * 1 + 0.5 * 2 * 5);
  EXPECT_NEAR(sums.potential, -3.0 * 2 / 5, 1e-12);
  EXPECT_EQ(sums.energy(), sums.kinetic + sums.potential);
  EXPECT_EQ(sums.momentum, (Vec3d{-2, 4, 3}));
  EXPECT_EQ(sums.angular_momentum, (Vec3d{0, 0, 2 * (3 * 2 - 4 * -1)}));

  // s^2 = 25 + 11 = 36, H = 0.75: the potential is m1 m2 (-1 / s + H / (3 s^3)).
  const Law attract_repel{.id = LawId::attract_repel, .softening = std::sqrt(11.0f), .repulsion = 0.75f};
  EXPECT_NEAR(conserved(bodies, attract_repel).potential, 6 * (-1.0 / 6 + 0.25 / 216), 1e-6);
}

TEST(ConservedTest, OneBodyHasNoPotential) {
  const Bodies bodies{{{1, 2, 3, 5}}, {{1, 0, 0, 0}}};
  EXPECT_EQ(conserved(bodies, Law{}).potential, 0);
}

TEST(ConservedTest, TheVirialRatioOfAMovingSystemIsThatOfOneAtRest) {
  const Law law{.softening = 0.1f};
  Bodies bodies = find_scene("plummer").generate(200, 3).bodies;
  const double at_rest = conserved(bodies, law).virial_ratio();
  EXPECT_NEAR(at_rest, 1, 0.2);
  for (Vec4& velocity : bodies.velocities) velocity.x += 50, velocity.z -= 20;
  EXPECT_NEAR(conserved(bodies, law).virial_ratio(), at_rest, 1e-4);
  EXPECT_GT(conserved(bodies, law).kinetic, 1000);
  const Bodies single{{{1, 2, 3, 5}}, {{1, 0, 0, 0}}};
  EXPECT_FALSE(std::isfinite(conserved(single, law).virial_ratio()));
}

TEST(ConservedTest, ForceIsTheSlopeOfThePotentialUnderBothLaws) {
  constexpr float step = 0x1p-10f;
  for (const LawId id : {LawId::gravity, LawId::attract_repel}) {
    SCOPED_TRACE(law_info(id).id);
    const Law law{.id = id, .softening = 0.3f, .repulsion = 0.1f};
    const Bodies bodies = find_scene("plummer").generate(20, 3).bodies;
    const Vec3d acceleration = reference_accelerations(bodies.positions, std::vector{7}, law).front();
    const auto slope = [&](float Vec4::*axis) {
      Bodies ahead = bodies, behind = bodies;
      ahead.positions[7].*axis += step;
      behind.positions[7].*axis -= step;
      const double distance = static_cast<double>(ahead.positions[7].*axis) - behind.positions[7].*axis;
      return (conserved(ahead, law).potential - conserved(behind, law).potential) / distance;
    };
    const double mass = bodies.positions[7].w;
    EXPECT_NEAR(-slope(&Vec4::x), mass * acceleration.x, 1e-6);
    EXPECT_NEAR(-slope(&Vec4::y), mass * acceleration.y, 1e-6);
    EXPECT_NEAR(-slope(&Vec4::z), mass * acceleration.z, 1e-6);
    EXPECT_GT(std::hypot(mass * acceleration.x, mass * acceleration.y, mass * acceleration.z), 1e-3);
  }
}

}  // namespace
}  // namespace orrery
