// What cuda-tree alone promises: it need not sort the bodies for every evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
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
  /// Of one more evaluation.
  static std::uint64_t interactions(test::Evaluations& evaluations, const Bodies& bodies) {
    const std::uint64_t before = evaluations.evaluated();
    evaluations.run(bodies);
    return evaluations.evaluated() - before;
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

TEST_F(CudaTree, WarpsThatShareGroupsMeetTheSameBodiesAndCells) {
  for (const int count : {1, 2, 33, 4097, 65'537}) {
    SCOPED_TRACE(std::to_string(count) + " bodies");
    const Bodies bodies = test::random_ball(count);
    std::vector<Vec4> whole;
    std::uint64_t interactions = 0;
    for (const char* split : {"1", "2", "4"}) {
      SCOPED_TRACE("split=" + std::string{split});
      test::Evaluations evaluations{info(), Settings{info(), {{"split", split}}}, count};
      const std::vector<Vec4> shared = evaluations.run(bodies);
      if (whole.empty()) {
        whole = shared;
        interactions = evaluations.evaluated();
      }
      EXPECT_EQ(evaluations.evaluated(), interactions);
      double mean = 0;  // the pulls on bodies near the center cancel
      for (const Vec4& a : whole) mean += std::hypot(a.x, a.y, a.z);
      mean /= count;
      for (std::size_t i = 0; i < shared.size(); ++i) {
        const double size = std::hypot(whole[i].x, whole[i].y, whole[i].z);
        const double apart = std::hypot(shared[i].x - whole[i].x, shared[i].y - whole[i].y, shared[i].z - whole[i].z);
        EXPECT_LE(apart, 1e-5 * (size + mean)) << "body " << i;
      }
    }
  }
}

/// What an order promises: errors and interactions as multiples of those of the order before it.
struct OrderStep {
  const char *order, *before;
  Settings::Values others;  // settings of both
  std::vector<const char*> tolerances;
  double median, p99;   // of the errors, upper limits
  double interactions;  // upper limit
};
void PrintTo(const OrderStep& step, std::ostream* out) {
  *out << step.order;
}

class CudaTreeOrders : public CudaTree, public testing::WithParamInterface<OrderStep> {};
INSTANTIATE_TEST_SUITE_P(
    Steps, CudaTreeOrders,
    testing::Values(OrderStep{"local", "quadrupole", {}, {"off", "1e-3", "1e-4", "1e-5"}, 1.5, 2.5, 0.9},
                    OrderStep{"high", "local", {{"group", "64"}}, {"1e-5", "1e-6", "1e-7"}, 2, 10, 1}),
    [](const auto& step) { return std::string{step.param.order}; });

TEST_P(CudaTreeOrders, AddLittleErrorForFewerInteractions) {
  const OrderStep& step = GetParam();
  const Bodies bodies = test::random_ball(65'537);
  for (const char* tolerance : step.tolerances) {
    SCOPED_TRACE(tolerance);
    ForceError error[2];
    std::uint64_t interactions[2];
    for (const bool own : {false, true}) {
      Settings settings{info(), step.others};
      settings.set("order", own ? step.order : step.before);
      settings.set("tolerance", tolerance);
      error[own] = test::sampled_error(info(), settings, bodies, {});
      test::Evaluations evaluations{info(), settings, bodies.count()};
      evaluations.run(bodies);
      interactions[own] = evaluations.evaluated();
    }
    EXPECT_LT(error[true].median, step.median * error[false].median);
    EXPECT_LT(error[true].p99, step.p99 * error[false].p99);
    EXPECT_LT(static_cast<double>(interactions[true]), step.interactions * static_cast<double>(interactions[false]));
  }
}

TEST_F(CudaTree, SumsOfLocalExpansionsKeepTheDigitsOfSmallTolerances) {
  const Bodies bodies = test::random_ball(65'537);
  const Settings settings{info(), {{"order", "local"}, {"tolerance", "1e-7"}, {"group", "32"}}};
  EXPECT_LT(test::sampled_error(info(), settings, bodies, {}).median, 2e-6);
}

TEST_F(CudaTree, HighMomentsReachSmallErrors) {
  const Bodies bodies = test::random_ball(65'537);
  for (const char* rebuild : {"1", "4"}) {
    const Settings settings{info(), {{"order", "high"}, {"tolerance", "1e-7"}, {"rebuild", rebuild}}};
    const ForceError error = test::sampled_error(info(), settings, bodies, {});
    EXPECT_LT(error.median, 2e-6);
    EXPECT_LT(error.p99, 6e-5);
  }
}

class CudaTreeExpansions : public CudaTree, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Orders, CudaTreeExpansions, testing::Values("local", "high"),
                         [](const auto& order) { return std::string{order.param}; });

TEST_P(CudaTreeExpansions, AgreeWhereTheOpeningAngleAloneDecides) {
  const Bodies bodies = test::random_ball(65'537);
  const Settings settings{info(), {{"order", GetParam()}, {"tolerance", "off"}, {"theta", "0.5"}}};
  EXPECT_LT(test::sampled_error(info(), settings, bodies, {}).median, 3e-4);
}

TEST_P(CudaTreeExpansions, AgreeForDegenerateBodies) {
  const Settings settings{info(), {{"order", GetParam()}}};
  const auto expect_agreement = [&](const char* what, Bodies bodies, const auto& change) {
    SCOPED_TRACE(what);
    for (std::size_t i = 0; i < bodies.positions.size(); ++i) change(i, bodies.positions[i]);
    const ForceError error = test::sampled_error(info(), settings, bodies, {});
    EXPECT_LE(error.median, 1.5e-3);
    EXPECT_LE(error.max, 0.1);
  };
  const Bodies ball = test::random_ball(20'000);
  const auto move = [](Vec4& body, float x, float y, float z) { body = {x, y, z, body.w}; };
  expect_agreement("two clusters", ball, [](std::size_t i, Vec4& body) { body.y += i % 2 == 0 ? 1000.0f : 0.0f; });
  expect_agreement("few points", ball, [&](std::size_t i, Vec4& body) {
    const Vec4& place = ball.positions[i % 7];
    move(body, place.x, place.y, place.z);
  });
  expect_agreement("a point in a ball", ball, [&](std::size_t i, Vec4& body) {
    if (i % 5 == 0) move(body, 0.5f, 0.3f, -0.2f);
  });
  expect_agreement("a body far away", ball, [&](std::size_t i, Vec4& body) {
    if (i == 17) move(body, 1e6f, 0, 0);
  });
  expect_agreement("nearly all in one point", test::random_ball(4097),
                   [&](std::size_t i, Vec4& body) { move(body, i == 2000 ? 1.1f : 0.1f, -0.7f, 3.3f); });
  expect_agreement("a large system", ball, [](std::size_t, Vec4& body) {
    body = {1e7f * body.x, 1e7f * body.y, 1e7f * body.z, body.w};
  });
}

TEST_P(CudaTreeExpansions, GiveTargetsWhatTheyGiveAll) {
  const Bodies bodies = test::random_ball(9001);
  const Settings settings{info(), {{"order", GetParam()}}};
  const std::vector<int> targets = sample_targets(bodies.count(), 100);
  const auto kernel = test::backends().make_kernel(info(), settings);
  const auto all = test::evaluate(*kernel, bodies, {.law = {}}),
             some = test::evaluate(*kernel, bodies, {.law = {}, .targets = targets});
  for (const int i : targets) {
    const Vec4 &a = all.accelerations[static_cast<std::size_t>(i)],
               &b = some.accelerations[static_cast<std::size_t>(i)];
    EXPECT_LT(std::hypot(a.x - b.x, a.y - b.y, a.z - b.z), 1e-5 * std::hypot(a.x, a.y, a.z)) << i;
  }
}

TEST_F(CudaTree, SortsAgainAfterAsManyEvaluationsAsItIsTold) {
  const int count = 20'000, period = 4;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("4"), count};
  const auto interactions_of = [&](const Bodies& bodies) { return interactions(evaluations, bodies); };
  const std::uint64_t sorted = interactions_of(first);
  for (int step = 1; step < period; ++step) {
    EXPECT_GT(interactions_of(other), 3 * sorted) << "its cells are all over the system";
  }
  EXPECT_LT(interactions_of(other), 2 * sorted);
}

TEST_F(CudaTree, SortsSoonerWhereKeptCellsCostMore) {
  const int count = 20'000;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("3"), count};
  const auto interactions_of = [&](const Bodies& bodies) { return interactions(evaluations, bodies); };
  const std::uint64_t sorted = interactions_of(first);
  EXPECT_GT(interactions_of(other), 3 * sorted) << "its cells are all over the system";
  EXPECT_GT(interactions_of(first), 0u);
  for (int period = 0; period < 20; ++period) {
    EXPECT_LT(interactions_of(first), 2 * sorted) << period;
    EXPECT_LT(interactions_of(other), 2 * sorted) << period << ": it has seen what kept cells cost";
  }
  std::uint64_t most = 0;
  for (int i = 0; i < 2000; ++i) most = std::max(most, interactions_of(i % 2 == 0 ? first : other));
  EXPECT_GT(most, 3 * sorted) << "kept cells are tried again";
}

TEST_F(CudaTree, KeepsCellsOfBodiesAtRest) {
  const int count = 20'000;
  const Bodies first = test::random_ball(count, 1), other = test::random_ball(count, 2);
  test::Evaluations evaluations{info(), rebuild("1000"), count};
  evaluations.run(first);
  const std::uint64_t sorted = evaluations.evaluated();
  for (int i = 1; i < 100; ++i) evaluations.run(first);
  const std::uint64_t before = evaluations.evaluated();
  EXPECT_LE(before, 101 * sorted);
  evaluations.run(other);
  EXPECT_GT(evaluations.evaluated() - before, 3 * sorted) << "its cells are still those of the first bodies";
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
