// What cuda-tree alone promises: it need not sort the bodies for every evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/compute/support/backend.h"
#include "tests/compute/support/evaluations.h"
#include "tests/compute/support/force.h"
#include "tests/compute/support/random_ball.h"

namespace orrery {
namespace {

class CudaTree : public testing::Test {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static const KernelInfo& info() { return *test::find_kernel("cuda-tree"); }
  static Settings rebuild(const char* evaluations) {
    Settings settings{info()};
    settings.set("rebuild", evaluations);
    return settings;
  }
};

/// By their velocities.
void drift(Bodies& bodies, float time) {
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    Vec4& position = bodies.positions[i];
    const Vec4& velocity = bodies.velocities[i];
    position = {position.x + velocity.x * time, position.y + velocity.y * time, position.z + velocity.z * time,
                position.w};
  }
}

TEST_F(CudaTree, AgreesWhileBodiesLeaveTheCellsThatTheyWereSortedInto) {
  for (const char* period : {"2", "4", "8", "16"}) {
    Bodies bodies = test::random_ball(4097);
    test::Evaluations evaluations{info(), rebuild(period), bodies.count()};
    for (int step = 0; step < 18; ++step) {
      SCOPED_TRACE("rebuild=" + std::string{period} + ", evaluation " + std::to_string(step));
      test::expect_agreement(evaluations.run(bodies), bodies, {}, info().tolerance);
      drift(bodies, 0.2f);
    }
  }
}

TEST_F(CudaTree, SortsAgainAfterAsManyEvaluationsAsItIsTold) {
  const int count = 20'000, period = 4;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("4"), count};
  const auto interactions_of = [&](const Bodies& bodies) {
    const std::uint64_t before = evaluations.evaluated();
    evaluations.run(bodies);
    return evaluations.evaluated() - before;
  };
  const std::uint64_t sorted = interactions_of(first);
  for (int step = 1; step < period; ++step) {
    EXPECT_GT(interactions_of(other), 3 * sorted) << "its cells are all over the system";
  }
  EXPECT_LT(interactions_of(other), 2 * sorted);
}

TEST_F(CudaTree, SortsAgainForOtherBodies) {
  const int count = 20'000;
  test::Evaluations evaluations{info(), rebuild("16"), count};
  evaluations.run(test::random_ball(count, 1));
  const std::uint64_t sorted = evaluations.evaluated();
  evaluations.kernel().bodies_replaced();
  evaluations.run(test::random_ball(count, 2));
  EXPECT_LT(evaluations.evaluated(), 3 * sorted);
}

TEST_F(CudaTree, CubesHoldTheirBodiesThatAreFarAwayOrHaveLeft) {
  Bodies bodies = test::random_ball(3000);
  bodies.positions[7] = {1e5f, -1e5f, 0, 1e-6f};
  test::Evaluations evaluations{info(), rebuild("2"), bodies.count()};
  for (int evaluation = 0; evaluation < 2; ++evaluation) {
    evaluations.run(bodies);
    const std::vector<TreeCell> cells = evaluations.cells(1'000'000);
    for (const Vec4& body : bodies.positions) {
      const auto holds = [&](const TreeCell& cell) {
        const auto within = [&](float center, float x) { return std::abs(x - center) <= 1.000001f * cell.half_size; };
        return within(cell.center.x, body.x) && within(cell.center.y, body.y) && within(cell.center.z, body.z);
      };
      ASSERT_TRUE(holds(cells.front()));
      ASSERT_TRUE(std::ranges::any_of(cells, [&](const TreeCell& cell) { return cell.level > 0 && holds(cell); }));
    }
    drift(bodies, 50);
  }
}

TEST_F(CudaTree, SortsAgainWhereTheNumberOfBodiesChanges) {
  const int most = 8000;
  test::Evaluations evaluations{info(), rebuild("16"), most};
  unsigned seed = 0;
  for (const int count : {5000, 5000, 3000, 3000, 5000, 1, 2, most, 33, 33}) {
    SCOPED_TRACE(count);
    const Bodies bodies = test::random_ball(count, ++seed);
    test::expect_agreement(evaluations.run(bodies), bodies, {}, info().tolerance);
  }
}

}  // namespace
}  // namespace orrery
