// What a simulation tells of a tree kernel: what was evaluated, and its cells.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

constexpr int count = 6000;

class EveryTree : public testing::TestWithParam<const KernelInfo*> {
 protected:
  void SetUp() override { ORRERY_SKIP_WITHOUT_BACKEND(); }

  static Simulation simulation() { return Simulation{{.scene = "plummer", .count = count}, nullptr, *GetParam()}; }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTree);

TEST_P(EveryTree, ReportsTheInteractionsThatItEvaluated) {
  Simulation simulation = EveryTree::simulation();
  EXPECT_EQ(simulation.status().interactions_per_step, 0) << "nothing is known yet";
  simulation.run(1);
  const StepTiming timing = simulation.run(1);
  const Status status = simulation.status();
  ASSERT_TRUE(status.tree);
  EXPECT_GT(status.tree->interactions, count);
  EXPECT_LT(status.tree->interactions, std::int64_t{count} * count);
  EXPECT_EQ(timing.interactions_per_evaluation, static_cast<double>(status.tree->interactions));
  EXPECT_EQ(status.interactions_per_step, timing.interactions_per_evaluation);
  EXPECT_NEAR(timing.interactions_per_s * timing.step_ms * 1e-3 / timing.interactions_per_evaluation, 1, 1e-9);
  EXPECT_GT(status.tree->cells, 8);
  EXPECT_GT(status.tree->depth, 2);
}

TEST_P(EveryTree, ForgetsItsReportWithTheSettingsAndTheBodies) {
  Simulation simulation = EveryTree::simulation();
  simulation.apply(ReadTreeCells{});
  simulation.run(1);
  EXPECT_TRUE(simulation.status().tree && simulation.status().tree_cells);
  simulation.apply(SetTunable{"theta", "0.4"});  // no tree's initial value
  EXPECT_FALSE(simulation.status().tree || simulation.status().tree_cells);
  EXPECT_EQ(simulation.status().interactions_per_step, 0);
  simulation.run(1);
  EXPECT_TRUE(simulation.status().tree);
  EXPECT_FALSE(simulation.status().tree_cells) << "nobody asked again";
  simulation.apply(Reset{});
  EXPECT_FALSE(simulation.status().tree);
}

TEST_P(EveryTree, ReadsItsCellsTheLargerOnesFirst) {
  Simulation simulation = EveryTree::simulation();
  // So the bodies of the last evaluation are still where they were.
  simulation.apply(SelectIntegrator{"leapfrog"});
  simulation.apply(SetTimeStep{1e-6f});
  simulation.apply(ReadTreeCells{});
  simulation.run(1);
  const Status status = simulation.status();
  ASSERT_TRUE(status.tree && status.tree_cells);
  const std::vector<TreeCell>& cells = status.tree_cells->cells;
  EXPECT_EQ(status.tree_cells->step, 1);
  EXPECT_EQ(std::ssize(cells), status.tree->cells);
  EXPECT_TRUE(std::ranges::is_sorted(cells, {}, &TreeCell::level));
  EXPECT_EQ(cells.front().level, 0);
  EXPECT_EQ(cells.back().level, status.tree->depth);
  const auto holds = [](const TreeCell& cell, const Vec4& p) {
    const float half = cell.half_size * 1.001f + 1e-4f;
    return std::abs(p.x - cell.center.x) <= half && std::abs(p.y - cell.center.y) <= half &&
           std::abs(p.z - cell.center.z) <= half;
  };
  for (const Vec4& p : simulation.bodies().positions) {
    ASSERT_TRUE(holds(cells.front(), p)) << "the root holds all bodies";
    ASSERT_TRUE(std::ranges::any_of(cells, [&](const TreeCell& cell) { return cell.level > 0 && holds(cell, p); }));
  }
  simulation.apply(ReadTreeCells{.most = 9});
  simulation.run(1);
  EXPECT_EQ(simulation.status().tree_cells->cells.size(), 9u);
  EXPECT_THROW(simulation.apply(ReadTreeCells{.most = 0}), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryTree, testing::ValuesIn(test::trees_under_test()), test::test_name);

TEST(DirectSum, TellsOfNoTree) {
  for (const KernelInfo* kernel : test::kernels_under_test()) {
    if (kernel->is_tree) continue;
    ORRERY_SKIP_WITHOUT_BACKEND();
    Simulation simulation{{.scene = "plummer", .count = 64}, nullptr, *kernel};
    simulation.apply(ReadTreeCells{});
    const StepTiming timing = simulation.run(1);
    EXPECT_FALSE(simulation.status().tree || simulation.status().tree_cells);
    EXPECT_EQ(timing.interactions_per_evaluation, 64. * 64);
    EXPECT_EQ(simulation.status().interactions_per_step, 64. * 64);
    return;
  }
}

}  // namespace
}  // namespace orrery
