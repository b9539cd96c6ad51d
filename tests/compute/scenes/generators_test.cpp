#include "compute/core/law.h"
#include "compute/scenes/draft.h"
#include "compute/scenes/galaxy.h"
#include "compute/scenes/scene.h"
#include "tests/test.h"

namespace orrery {
namespace {

/// FNV-1a over the bits of all positions, then of all velocities.
std::uint64_t hash(const Bodies& bodies) {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const auto* array : {&bodies.positions, &bodies.velocities}) {
    for (const Vec4& v : *array) {
      for (const float component : {v.x, v.y, v.z, v.w}) {
        value = (value ^ std::bit_cast<std::uint32_t>(component)) * 0x100000001b3u;
      }
    }
  }
  return value;
}

class EveryScene : public testing::TestWithParam<const SceneInfo*> {
 protected:
  static std::vector<int> counts() {
    const SceneInfo& info = *GetParam();
    if (info.fixed_count != 0) return {info.fixed_count};
    std::vector<int> all;
    for (const int count : {1, 2, 3, 4, 5, 7, 31, 100, 4097, 16384}) {
      if (count >= info.min_count) all.push_back(count);
    }
    return all;
  }
};

/// A change here changes what everybody's seeds mean: pictures and measured figures can no longer be compared.
TEST_P(EveryScene, IsTheSameBodiesOnEveryMachine) {
  static const std::map<std::string, std::uint64_t> hashes{
      {"collision", 0x70c208b10e3301a0u},     {"plummer", 0x851c8293f4f93501u},    {"disc", 0xe63e0ebfd3357685u},
      {"cold-collapse", 0xbd6792aa64bfbc73u}, {"two-body", 0x21484283bec58ad6u},   {"spiral", 0x8bd4043f2b5a8ebeu},
      {"antennae", 0xca0710fb739c44ceu},      {"cosmic-web", 0xc421c2060e3020adu}, {"collapse", 0xbf9101191fbfac62u},
  };
  const SceneInfo& info = *GetParam();
  EXPECT_EQ(hash(info.generate(info.fixed_count != 0 ? info.fixed_count : 3000, 7).bodies), hashes.at(info.id));
}

TEST(Generators, CollisionOfManyBodiesIsTheSameOnEveryMachine) {
  EXPECT_EQ(hash(find_scene("collision").generate(16385, 7).bodies), 0x3b9eed937c0f89acu);
}

TEST_P(EveryScene, HasTheCountAskedForAndUsableParameters) {
  for (const int count : counts()) {
    SCOPED_TRACE(count);
    const Scene scene = GetParam()->generate(count, 3);
    EXPECT_EQ(scene.name, GetParam()->id);
    ASSERT_EQ(scene.bodies.count(), count);
    ASSERT_EQ(scene.bodies.velocities.size(), scene.bodies.positions.size());
    EXPECT_GE(scene.softening, Law::min_softening);
    EXPECT_LT(scene.softening, 0.1f);
    EXPECT_GT(scene.time_step, 1e-5f);
    EXPECT_LT(scene.time_step, 0.05f);
  }
}

TEST_P(EveryScene, HasMassOneAndItsCentreOfMassAtRestAtTheOrigin) {
  for (const int count : counts()) {
    SCOPED_TRACE(count);
    const Bodies bodies = GetParam()->generate(count, 11).bodies;
    double mass = 0, sums[6] = {};
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
      const Vec4 &p = bodies.positions[i], &v = bodies.velocities[i];
      ASSERT_GT(p.w, 0) << i;
      ASSERT_EQ(v.w, 0) << i;
      const double m = p.w;
      mass += m;
      const float components[6] = {p.x, p.y, p.z, v.x, v.y, v.z};
      for (int k = 0; k < 6; ++k) {
        ASSERT_LT(std::abs(components[k]), 100) << i;
        sums[k] += m * static_cast<double>(components[k]);
      }
    }
    EXPECT_NEAR(mass, 1, 1e-6);
    for (const double sum : sums) EXPECT_NEAR(sum, 0, 1e-7);
  }
}

TEST_P(EveryScene, FollowsItsSeed) {
  const SceneInfo& info = *GetParam();
  const int count = info.fixed_count != 0 ? info.fixed_count : 100;
  EXPECT_TRUE(info.generate(count, 5).bodies == info.generate(count, 5).bodies);
  if (info.fixed_count != 0) return;  // drawn by no lot
  EXPECT_FALSE(info.generate(count, 5).bodies == info.generate(count, 6).bodies);
  EXPECT_FALSE(info.generate(count, 0).bodies == info.generate(count, 1).bodies);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryScene, testing::ValuesIn(scenes().begin(), scenes().end()),
                         [](const auto& instance) {
                           std::string name = instance.param->id;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(DrawnInParallel, HasTheNumbersOfItsSeedAndThenOthers) {
  const auto draw = [](Random& random) -> DraftBody { return {1, random.in_ball(), random.in_ball()}; };
  const auto equal = [](const DraftBody& a, const DraftBody& b) { return a.position == b.position; };
  const std::vector<Draft> drafts = drawn_in_parallel(2500, 7, draw, 1000);
  ASSERT_EQ(drafts.size(), 3u);
  EXPECT_EQ(drafts[2].size(), 500u);
  Random random{7};
  for (const DraftBody& body : drafts[0]) EXPECT_TRUE(equal(body, draw(random)));
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_FALSE(equal(drafts[0][i], drafts[1][i]));
    EXPECT_FALSE(equal(drafts[1][i], drafts[2][i]));
  }
  const std::vector<Draft> again = drawn_in_parallel(2500, 7, draw, 1000);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::ranges::equal(again[i], drafts[i], equal));
}

TEST(DrawnInParallel, BodiesAreAtRestAroundTheOrigin) {
  const auto draw = [](Random& random) -> DraftBody {
    return {random.uniform(), random.in_ball(), random.gaussian_vector(1)};
  };
  std::vector<Draft> drafts = drawn_in_parallel(2500, 7, draw, 1000);
  const Bodies bodies = finished(drafts);
  ASSERT_EQ(bodies.count(), 2500);
  Vec3d centre, momentum;
  for (std::size_t i = 0; i < 2500; ++i) {
    const Vec4 &x = bodies.positions[i], &v = bodies.velocities[i];
    EXPECT_EQ(x.w, static_cast<float>(drafts[i / 1000][i % 1000].mass));
    centre = {centre.x + x.w * x.x, centre.y + x.w * x.y, centre.z + x.w * x.z};
    momentum = {momentum.x + x.w * v.x, momentum.y + x.w * v.y, momentum.z + x.w * v.z};
  }
  for (const double sum : {centre.x, centre.y, centre.z, momentum.x, momentum.y, momentum.z}) EXPECT_NEAR(sum, 0, 1e-3);
}

TEST(Parts, OfScenesHaveNamesAndEveryBody) {
  for (const auto& [scene, names] :
       std::initializer_list<std::pair<const char*, std::vector<std::string>>>{{"collision", {"galaxy 1", "galaxy 2"}},
                                                                               {"antennae", {"galaxy 1", "galaxy 2"}},
                                                                               {"disc", {"disc", "bulge", "halo"}},
                                                                               {"spiral", {"disc", "bulge", "halo"}},
                                                                               {"plummer", {}}}) {
    SCOPED_TRACE(scene);
    const Scene loaded = load_scene({.scene = scene, .count = 1000});
    EXPECT_EQ(loaded.parts.names, names);
    EXPECT_EQ(loaded.parts.of_body.size(), names.empty() ? 0u : 1000u);
    for (const std::uint8_t part : loaded.parts.of_body) ASSERT_LT(part, names.size());
  }
}

TEST(Parts, OfASpiralLieWhereTheyShould) {
  const Scene spiral = load_scene({.scene = "spiral", .count = 4000});
  std::array<double, 3> height{}, bodies{};
  for (std::size_t i = 0; i < 4000; ++i) {
    const std::size_t part = spiral.parts.of_body[i];
    height[part] += std::abs(spiral.bodies.positions[i].z);
    bodies[part] += 1;
  }
  EXPECT_GT(bodies[0], bodies[2]) << "most are the disc's";
  EXPECT_LT(height[0] / bodies[0], 0.1 * height[2] / bodies[2]) << "it is flat";
}

TEST(Parts, OfTinyScenesLeaveOutWhatHasNoBodies) {
  const Scene one = load_scene({.scene = "spiral", .count = 1});
  EXPECT_EQ(one.parts.names, std::vector<std::string>{"disc"});
  EXPECT_EQ(one.parts.of_body, std::vector<std::uint8_t>{0});
}

TEST(Parts, OfAFileAreItsSpecies) {
  EXPECT_EQ(parts_of(std::vector{Species::star, Species::gas, Species::star}), (Parts{{"gas", "star"}, {1, 0, 1}}));
  EXPECT_EQ(parts_of({}), Parts{});
}

TEST(PortableMath, AgreesWithTheCLibrary) {
  for (double x = -690; x < 690; x += 0.37) {
    EXPECT_NEAR(portable::exp(x) / std::exp(x), 1, 3e-13) << x;  // the error of x - k ln 2 grows with x
  }
  for (double x = 1e-300; x < 1e300; x *= 1.7) EXPECT_NEAR(portable::log(x), std::log(x), 2e-13) << x;
  for (double x = 0.4; x < 2.5; x += 0.001) EXPECT_NEAR(portable::log(x), std::log(x), 4e-16) << x;
  EXPECT_NEAR(portable::pow(0.3, -2.0 / 3), std::pow(0.3, -2.0 / 3), 1e-14);
}

TEST(RandomTest, HasTheMomentsOfItsDistributions) {
  Random random{42};
  constexpr int draws = 200000;
  double uniform_sum = 0, gaussian_sum = 0, gaussian_sq_sum = 0, gaussian_4th_sum = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = random.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    const double g = random.gaussian();
    uniform_sum += u;
    gaussian_sum += g;
    gaussian_sq_sum += g * g;
    gaussian_4th_sum += g * g * g * g;
  }
  EXPECT_NEAR(uniform_sum / draws, 0.5, 0.003);
  EXPECT_NEAR(gaussian_sum / draws, 0, 0.01);
  EXPECT_NEAR(gaussian_sq_sum / draws, 1, 0.015);
  EXPECT_NEAR(gaussian_4th_sum / draws, 3, 0.12);
}

/// An exponential disc in a flat rotation curve.
StationaryDisc flat_disc(double dispersion) {
  StationaryDisc::Profile profile;
  for (int i = 0; i < StationaryDisc::size; ++i) {
    const double radius = StationaryDisc::radius(i);
    profile.circular_sq.push_back(1);
    profile.surface_density.push_back(std::exp(-radius));
    profile.dispersion_sq.push_back(std::exp(-radius));
  }
  return {std::move(profile), 2, dispersion};
}

struct Moments {
  double outward_sq = 0, along = 0, along_sq = 0;
};

Moments moments_at(const StationaryDisc& disc, double radius) {
  constexpr int draws = 200000;
  Random random{3};
  Moments sums;
  for (int i = 0; i < draws; ++i) {
    const auto [outward, along] = disc.draw(radius, random);
    sums.outward_sq += outward * outward / draws;
    sums.along += along / draws;
    sums.along_sq += along * along / draws;
  }
  return sums;
}

TEST(StationaryDisc, HasTheDispersionAskedFor) {
  for (const double dispersion : {0.05, 0.3}) {
    EXPECT_NEAR(std::sqrt(moments_at(flat_disc(dispersion), 2).outward_sq), dispersion, 0.02 * dispersion);
  }
}

/// <v_phi^2> = v_c^2 + sigma^2 (1 + d ln(density sigma^2) / d ln R), also where the dispersion is a third of the speed.
TEST(StationaryDisc, SatisfiesTheJeansEquation) {
  const StationaryDisc disc = flat_disc(0.3);
  for (const double radius : {1.0, 2.0, 3.0, 4.0}) {
    SCOPED_TRACE(radius);
    constexpr double step = 0.2;
    const Moments here = moments_at(disc, radius);
    const double below = moments_at(disc, radius - step).outward_sq, above = moments_at(disc, radius + step).outward_sq;
    const double slope = radius * (std::log(above / below) / (2 * step) - 1);
    EXPECT_NEAR(here.along_sq, 1 + here.outward_sq * (1 + slope), 0.02);
    EXPECT_LT(here.along, 0.99) << "no asymmetric drift";
  }
}

TEST(StationaryDisc, AColdOneMovesOnCirclesWithEpicycles) {
  const Moments at = moments_at(flat_disc(0.05), 2);
  EXPECT_NEAR(at.along, 1, 0.01);
  const double along_variance = at.along_sq - at.along * at.along;
  EXPECT_NEAR(along_variance / at.outward_sq, 0.5, 0.03);  // (kappa / 2 Omega)^2
}

}  // namespace
}  // namespace orrery
