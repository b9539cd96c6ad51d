// Trees whose bodies are spread over ranks find the bits of one process.
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <random>
#include <string>
#include <vector>

#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backend.h"
#include "tests/compute/support/degenerate_bodies.h"
#include "tests/compute/support/failure.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

const KernelInfo& tree() {
  return *test::find_kernel("cpu-tree");
}

/// Clumps of very different sizes and densities, far apart, with many bodies at one place in the last.
Bodies clumps(int each) {
  std::mt19937 random{7};
  std::normal_distribution<float> normal;
  Bodies bodies = test::random_ball(4 * each);
  constexpr float sizes[] = {1, 1e-3f, 30, 0};
  for (int i = 0; i < bodies.count(); ++i) {
    const int clump = i % 4;
    Vec4& at = bodies.positions[static_cast<std::size_t>(i)];
    const auto near = [&](float center) { return center + sizes[clump] * normal(random); };
    at = {near(100.0f * static_cast<float>(clump)), near(clump == 1 ? 3.0f : -7.0f), near(0), at.w};
  }
  return bodies;
}

Bodies scaled(Bodies bodies, float length, float mass) {
  for (Vec4& at : bodies.positions) at = {at.x * length, at.y * length, at.z * length, at.w * mass};
  return bodies;
}

/// Eight bodies at one corner of each of these octahedra, and eight at the others: the ball around the latter, from the
/// center of their box, is larger than the one around all.
Bodies octahedra(int count) {
  constexpr Vec3 corners[] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0},
                              {0, 0, 1},  {0, 0, 1},  {0, 1, 0},  {1, 0, 0}};
  std::mt19937 random{7};
  std::normal_distribution<float> normal{0, 200};
  Bodies bodies = test::random_ball(16 * count);
  for (std::size_t i = 0; i < bodies.positions.size(); i += 16) {
    const float x = normal(random), y = normal(random), z = normal(random);
    for (std::size_t k = 0; k < 16; ++k) {
      const Vec3& corner = corners[k < 8 ? 0 : k - 7];
      bodies.positions[i + k] = {x + corner.x, y + corner.y, z + corner.z, 1};
    }
  }
  return bodies;
}

void expect_bits_of_one_process(const std::string& settings_text, const Bodies& bodies, const Law& law) {
  const Settings settings{tree(), Settings::values_of(settings_text)};
  const auto alone = test::backends().make_kernel(tree(), settings);
  const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = law}).accelerations;
  for (const int size : {2, 3, 5}) {
    SCOPED_TRACE(settings_text + ", " + std::to_string(size) + " ranks");
    test::RankTeam team{size};
    const auto shared = team.backends().make_kernel(tree(), settings);
    EXPECT_EQ(test::evaluate(*shared, bodies, {.law = law}).accelerations, expected);
  }
}

TEST(TreeOnRanks, OpensTheSameCellsForAGroupThatIsWiderThanItsLeaf) {
  for (const int count : {100, 150}) {
    expect_bits_of_one_process("order=high leaf=16 group=8 tolerance=1e-6", octahedra(count), {.softening = 1e6f});
  }
}

TEST(TreeOnRanks, OpensTheSameCellsIfTheirSquaresLeaveTheRangeOfFloat) {
  for (const char* settings : {"order=local", "order=high", "order=monopole tolerance=off"}) {
    expect_bits_of_one_process(settings, scaled(clumps(300), 1e-20f, 1), {});
    expect_bits_of_one_process(settings, scaled(test::random_ball(2000), 1e10f, 1e27f), {});
  }
}

class TreeOnRanksWith : public testing::TestWithParam<const char*> {};

TEST_P(TreeOnRanksWith, FindsTheBitsOfOneProcess) {
  const Settings settings{tree(), Settings::values_of(GetParam())};
  const auto alone = test::backends().make_kernel(tree(), settings);
  for (const int size : {2, 3, 5}) {
    test::RankTeam team{size};
    const auto shared = team.backends().make_kernel(tree(), settings);
    for (const Bodies& bodies : {test::random_ball(5000), clumps(900), test::coincident(700), test::lopsided(1000)}) {
      for (const Law& law : {Law{}, test::attract_repel}) {
        SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(bodies.count()) + " bodies");
        const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = law}).accelerations;
        for (int again = 0; again < 6; ++again) {  // the ranks' parts change in between
          EXPECT_EQ(test::evaluate(*shared, bodies, {.law = law}).accelerations, expected);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, TreeOnRanksWith,
                         testing::Values("tolerance=1e-3", "tolerance=off", "tolerance=off theta=0.4",
                                         "order=high tolerance=1e-5", "order=high tolerance=off", "order=monopole",
                                         "order=quadrupole tolerance=1e-4", "leaf=8 group=16", "leaf=64 group=8",
                                         "group=256"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

/// Counts the bodies of each rank, with an exchange so that all are at work together.
TEST(TreeOnRanksWork, IsDividedEquallyAtFirst) {
  const Bodies bodies = test::random_ball(8000);
  const auto kernel = tree().make(Settings{tree()}, nullptr);
  for (const int ranks : {2, 3, 4}) {
    std::vector<int> owners, counts(static_cast<std::size_t>(ranks));
    (void)kernel->domains()->divide(bodies.positions, PartSizes{ranks}.parts(), owners);
    ASSERT_EQ(owners.size(), bodies.positions.size());
    for (const int owner : owners) ++counts.at(static_cast<std::size_t>(owner));
    for (const int count : counts) EXPECT_NEAR(count, 8000 / ranks, 400);
  }
}

TEST(TreeOnRanksWork, StaysOnOneRankIfItCannotBeDivided) {
  const Bodies bodies = test::coincident(500);
  const auto kernel = tree().make(Settings{tree()}, nullptr);
  std::vector<int> owners;
  (void)kernel->domains()->divide(bodies.positions, PartSizes{3}.parts(), owners);
  EXPECT_EQ(owners, std::vector<int>(500, 0));
}

TEST(TreeOnRanksWork, ACancelledEvaluationLeavesNothingBehind) {
  const Bodies bodies = test::random_ball(3000);
  test::RankTeam team{3};
  const auto shared = team.backends().make_kernel(tree(), Settings{tree()});
  const auto alone = test::backends().make_kernel(tree(), Settings{tree()});
  const std::vector<Vec4> expected = test::evaluate(*alone, bodies, {.law = {}}).accelerations;
  const std::atomic<bool> cancelled = true;
  std::vector<Vec4> accelerations(bodies.positions.size());
  for (int again = 0; again < 3; ++again) {
    shared->evaluate({.bodies = bodies.positions.data(),
                      .count = bodies.count(),
                      .masses = mass_range(bodies.positions),
                      .law = {},
                      .epilogue = {.accelerations = accelerations.data()},
                      .cancelled = &cancelled});
    EXPECT_FALSE(shared->tree()->report());
    EXPECT_EQ(test::evaluate(*shared, bodies, {.law = {}}).accelerations, expected);
  }
}

}  // namespace
}  // namespace orrery
