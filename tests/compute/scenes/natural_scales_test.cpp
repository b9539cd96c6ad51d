#include "compute/scenes/natural_scales.h"

#include "compute/core/law.h"
#include "compute/core/temporary_folder.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"
#include "tests/compute/scenes/systems.h"
#include "tests/test.h"

namespace orrery {
namespace {

Bodies scaled(Bodies bodies, float length, float speed, float shift) {
  for (Vec4& p : bodies.positions) p = {p.x * length + shift, p.y * length, p.z * length, p.w};
  for (Vec4& v : bodies.velocities) v = {v.x * speed, v.y * speed, v.z * speed, 0};
  return bodies;
}

TEST(NaturalScales, AreNearWhatTheGeneratorsChoose) {
  for (const char* id : {"plummer", "disc"}) {
    SCOPED_TRACE(id);
    const Scene scene = load_scene({.scene = id});
    const NaturalScales scales = natural_scales(scene.bodies);
    EXPECT_GT(scales.softening, scene.softening / 4);
    EXPECT_LT(scales.softening, scene.softening * 4);
    EXPECT_GT(scales.time_step, scene.time_step / 4);
    EXPECT_LT(scales.time_step, scene.time_step * 4);
  }
}

TEST(NaturalScales, FollowTheUnitsOfTheBodies) {
  const Bodies bodies = find_scene("plummer").generate(5000, 2).bodies;
  const NaturalScales one = natural_scales(bodies);
  const NaturalScales larger = natural_scales(scaled(bodies, 100, 0.1f, 0));  // Kepler: time goes as length^(3/2)
  EXPECT_NEAR(larger.softening / one.softening, 100, 1);
  EXPECT_NEAR(larger.time_step / one.time_step, 1000, 10);
  const NaturalScales moved = natural_scales(scaled(bodies, 1, 1, 300));
  EXPECT_NEAR(moved.softening / one.softening, 1, 0.01);
}

TEST(NaturalScales, OfTwoClustersFarApartAreThoseOfOne) {
  const Bodies one = find_scene("plummer").generate(5000, 2).bodies;
  Bodies two = scaled(one, 1, 1, -500);
  const Bodies other = scaled(find_scene("plummer").generate(5001, 3).bodies, 1, 1, 500);
  two.positions.insert(two.positions.end(), other.positions.begin(), other.positions.end());
  two.velocities.insert(two.velocities.end(), other.velocities.begin(), other.velocities.end());
  EXPECT_LT(natural_scales(two).softening / natural_scales(one).softening, 2);
}

TEST(NaturalScales, AreUsableForFewOrCoincidingBodies) {
  const Bodies alone{{{1, 2, 3, 4}}, {{5, 6, 7, 0}}};
  const Bodies coinciding{std::vector<Vec4>(10, {1, 2, 3, 4}), std::vector<Vec4>(10)};
  const Bodies pair = find_scene("two-body").generate(2, 1).bodies;
  for (const Bodies& bodies : {alone, coinciding, pair, find_scene("disc").generate(3, 1).bodies}) {
    const NaturalScales scales = natural_scales(bodies);
    EXPECT_GE(scales.softening, Law::min_softening);
    EXPECT_GT(scales.time_step, 0);
    EXPECT_TRUE(std::isfinite(scales.softening) && std::isfinite(scales.time_step));
  }
}

/// A cluster in other units: lengths times `length`, masses times `mass`.
Bodies rescaled(float length, float mass) {
  Bodies bodies = find_scene("plummer").generate(200, 1).bodies;
  for (Vec4& p : bodies.positions) p = {p.x * length, p.y * length, p.z * length, p.w * mass};
  return bodies;
}

TEST(ForceRange, HoldsEveryGeneratedScene) {
  for (const SceneInfo* info : scenes()) {
    const Scene scene = load_scene({.scene = info->id});
    EXPECT_FALSE(forces_underflow(scene.bodies, scene.softening)) << info->id;
  }
}

TEST(ForceRange, EndsWhereNoForceIsLeft) {
  EXPECT_TRUE(forces_underflow(rescaled(9e14f, 1e-25f), 1));
  EXPECT_TRUE(forces_underflow(rescaled(1e13f, 1e-3f), 1)) << "a factor of 1e-5 / 1e39";
  EXPECT_FALSE(forces_underflow(rescaled(9e14f, 1e15f), 1)) << "far, but heavy";
  EXPECT_FALSE(forces_underflow(rescaled(1, 1e-25f), 0.01f)) << "light, but near";
}

TEST(ForceRange, IgnoresWhatPullsLittleBesideTheRest) {
  EXPECT_FALSE(forces_underflow({{{0, 0, 0, 1}}, {{}}}, 1)) << "one body";
  EXPECT_FALSE(forces_underflow({{{0, 0, 0, 1}, {1, 0, 0, 1e-30f}, {0, 1, 0, 1e-30f}}, {{}, {}, {}}}, 0.1f))
      << "a star and what moves around it";
  Bodies stray = rescaled(1, 1);
  stray.positions.front().x = 9e14f;
  EXPECT_FALSE(forces_underflow(stray, 0.1f)) << "one body that left";
}

TEST(ForceRange, RefusesAFileAndSaysWhatHelps) {
  const TemporaryFolder folder;
  const auto file = folder / "far.tipsy";
  write_snapshot(file, {{{{-9e14f, 0, 0, 1e-30f}, {9e14f, 0, 0, 1e-30f}}, {{}, {}}}});
  EXPECT_RUNTIME_ERROR(load_scene({.file = file.string()}), "far.tipsy", "single precision", "rescale the units");
}

constexpr double year = 2 * std::numbers::pi;

TEST(Orbits, ArePlanetsAroundTheSun) {
  const Bodies planets = test::solar_system();
  const std::vector<Orbit> orbits = bound_orbits(planets);
  ASSERT_EQ(orbits.size(), 8u);
  EXPECT_EQ(orbits.front().body, 1);
  EXPECT_EQ(orbits.front().around, 0);
  EXPECT_NEAR(orbits.front().size, 0.387, 1e-4);
  EXPECT_NEAR(orbits.front().time, year * std::pow(0.387, 1.5), 1e-3);
  const NaturalScales scales = natural_scales(planets);
  EXPECT_LT(scales.softening, 0.387 / 100);
  EXPECT_LT(scales.time_step, orbits.front().time / 100);
  EXPECT_EQ(coarse_softening(0.248, scales.smallest_orbit).substr(0, 57),
            "softening 0.248 exceeds a tenth of the smallest orbit, 0.");
  EXPECT_EQ(coarse_softening(scales.softening, scales.smallest_orbit), "");
}

TEST(Orbits, AreMoonsAroundPlanets) {
  Bodies bodies = test::solar_system();
  const Vec4 earth = bodies.positions[3], speed = bodies.velocities[3];
  const double distance = 2.57e-3, orbital = std::sqrt(3e-6 / distance);
  bodies.positions.push_back({earth.x + static_cast<float>(distance), earth.y, earth.z, 3.7e-8f});
  bodies.velocities.push_back({speed.x, speed.y + static_cast<float>(orbital), speed.z, 0});
  const std::vector<Orbit> orbits = bound_orbits(bodies);
  EXPECT_EQ(orbits.front().body, 9);
  EXPECT_EQ(orbits.front().around, 3);
  EXPECT_NEAR(orbits.front().size, distance, 0.1 * distance);
}

TEST(Orbits, OfAClusterAreFewAndDecideNothing) {
  for (const int count : {300, 1000, 4000}) {
    const Bodies cluster = find_scene("plummer").generate(count, 5).bodies;
    EXPECT_LT(bound_orbits(cluster).size(), static_cast<std::size_t>(std::max(2, count / 200)));
    const Bodies at_rest{cluster.positions, std::vector<Vec4>(cluster.positions.size())};
    EXPECT_LT(bound_orbits(at_rest).size(), static_cast<std::size_t>(std::max(3, count / 200))) << "a cold collapse";
  }
}

TEST(Orbits, DecideWhereABodyIsFarHeavierThanAllOthers) {
  for (const int place : {0, 777, 2000}) {
    const Bodies disc = test::star_with_disc(2000, place);
    const NaturalScales scales = natural_scales(disc);
    EXPECT_NEAR(scales.smallest_orbit, 0.5, 0.01);
    EXPECT_NEAR(scales.softening, 0.5 / 300, 1e-4);
  }
}

/// A pair of bodies of a cluster of equal masses, on a circular orbit.
Bodies cluster_with_pair(int count, float apart) {
  Bodies bodies = find_scene("plummer").generate(count, 7).bodies;
  const float mass = bodies.positions[0].w, speed = std::sqrt(mass / apart / 2);
  bodies.positions[0] = {2, 0, 0, mass}, bodies.positions[1] = {2 + apart, 0, 0, mass};
  bodies.velocities[0] = {0, speed, 0, 0}, bodies.velocities[1] = {0, -speed, 0, 0};
  return bodies;
}

TEST(NaturalScales, WarnOfOneHardPairThatDecidesNothing) {
  const NaturalScales scales = natural_scales(cluster_with_pair(1000, 1e-4f));
  EXPECT_NEAR(scales.smallest_orbit, 1e-4, 1e-5);
  EXPECT_GT(scales.softening, 0.01) << "one pair of 1000 bodies does not decide";
  EXPECT_NE(coarse_softening(scales.softening, scales.smallest_orbit), "");
}

TEST(NaturalScales, OfAFieldDoNotComeFromAChancePair) {
  const NaturalScales field = natural_scales(cluster_with_pair(100, 0.1f));
  EXPECT_EQ(field.smallest_orbit, 0) << field.why_softening;
  EXPECT_GT(field.softening, 0.01);
  const NaturalScales hard = natural_scales(cluster_with_pair(100, 1e-3f));
  EXPECT_NEAR(hard.softening, 1e-3 / 300, 1e-5) << "bound far more tightly than the field";
}

TEST(NaturalScales, OfAnAsteroidBeltResolveTheMoonOfAPlanet) {
  Bodies bodies = test::star_with_disc(3000, 0);
  const float jupiter = 9.5e-4f, distance = 0.0028f, speed = 1 / std::sqrt(8.0f);
  bodies.positions.push_back({8, 0, 0, jupiter});
  bodies.velocities.push_back({0, speed, 0, 0});
  bodies.positions.push_back({8 + distance, 0, 0, 4e-8f});
  bodies.velocities.push_back({0, speed + std::sqrt(jupiter / distance), 0, 0});
  const NaturalScales scales = natural_scales(bodies);
  EXPECT_NEAR(scales.smallest_orbit, 0.0028, 1e-4);
  EXPECT_NEAR(scales.softening, 0.0028 / 300, 1e-6);
}

TEST(NaturalScales, FollowThePericentreOfAComet) {
  const double axis = 100, eccentricity = 0.999, far = axis * (1 + eccentricity), near = axis * (1 - eccentricity);
  const double speed = std::sqrt(1 / axis * (1 - eccentricity) / (1 + eccentricity));
  const NaturalScales scales = natural_scales(
      {{{0, 0, 0, 1}, {test::single(far), 0, 0, 1e-10f}}, {{0, 0, 0, 0}, {0, test::single(speed), 0, 0}}});
  EXPECT_NEAR(scales.softening, near / 300, 1e-5 * near);
  EXPECT_NEAR(scales.time_step, year * std::pow(near, 1.5) / 200, 1e-3 * std::pow(near, 1.5));
}

TEST(NaturalScales, ResolveABinaryAndItsPericentre) {
  for (const double scale : {1e-5, 1.0, 1e6}) {
    const double axis = scale, eccentricity = 0.9, far = axis * (1 + eccentricity);
    const double speed = std::sqrt(1 / axis * (1 - eccentricity) / (1 + eccentricity));
    const Bodies pair{{{0, 0, 0, 0.5f}, {static_cast<float>(far), 0, 0, 0.5f}},
                      {{0, 0, 0, 0}, {0, static_cast<float>(speed), 0, 0}}};
    const NaturalScales scales = natural_scales(pair);
    EXPECT_NEAR(scales.smallest_orbit / axis, 0.1, 1e-3);
    EXPECT_LT(scales.softening, 0.01 * 0.1 * axis);
    EXPECT_LT(scales.time_step, 0.01 * year * std::pow(0.1 * axis, 1.5));
    EXPECT_TRUE(scales.usable());
  }
}

TEST(NaturalScales, GoWithTheUnitsWithoutAFallback) {
  const Bodies ball = find_scene("plummer").generate(4000, 2).bodies;
  const NaturalScales one = natural_scales(ball);
  for (const double scale : {1e-5, 1e-4, 1e4, 1e9}) {
    const NaturalScales other = natural_scales(test::scaled(ball, scale, 1 / std::sqrt(scale)));
    EXPECT_NEAR(other.softening / (one.softening * scale), 1, 1e-3) << scale;
    EXPECT_NEAR(other.time_step / (one.time_step * std::pow(scale, 1.5)), 1, 1e-3) << scale;
    EXPECT_TRUE(other.usable());
  }
  EXPECT_FALSE(natural_scales(test::scaled(ball, 1e-14, 1e7)).usable());
}

TEST(NaturalScales, TakeTheSofteningOfTheFile) {
  const Bodies cluster = find_scene("plummer").generate(2000, 1).bodies;
  const NaturalScales own = natural_scales(cluster, 0.001);
  EXPECT_EQ(own.softening, 0.001);
  EXPECT_LT(own.time_step, natural_scales(cluster).time_step);
  EXPECT_NE(own.softening_text({}).find("softening 0.001 (the file's)"), std::string::npos);
}

TEST(NaturalScales, SayThatNoTwoBodiesAreApart) {
  const Bodies coinciding{std::vector<Vec4>(10, {1, 2, 3, 4}), std::vector<Vec4>(10)};
  EXPECT_NE(natural_scales(coinciding).why_softening.find("arbitrary"), std::string::npos);
  Bodies half = find_scene("plummer").generate(1000, 1).bodies;
  for (std::size_t i = 0; i < 500; ++i) half.positions[2 * i] = {0, 0, 0, 1e-3f};
  EXPECT_EQ(natural_scales(half).why_softening.find("arbitrary"), std::string::npos);
}

}  // namespace
}  // namespace orrery
