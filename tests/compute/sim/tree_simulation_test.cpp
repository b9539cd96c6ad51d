// A simulation's report of a tree kernel: what was evaluated, and its cells.
#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery {
namespace {

constexpr int count = 6000;

class EveryTree : public test::KernelTest {
 protected:
  static Simulation simulation() {
    return Simulation{test::backends(), {.scene = "plummer", .count = count}, GetParam()};
  }
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
  simulation.apply(Restart{});
  EXPECT_FALSE(simulation.status().tree);
}

TEST_P(EveryTree, ReadsItsCellsTheLargerOnesFirst) {
  Simulation simulation = EveryTree::simulation();
  // So the bodies of the last evaluation are still where they were.
  test::apply(simulation, SelectIntegrator{"leapfrog"}, SetTimeStep{1e-6f}, ReadTreeCells{});
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

TEST_P(EveryTree, ReadsTheCellsOfALevel) {
  Simulation simulation = EveryTree::simulation();
  simulation.apply(SetPaused{true});
  simulation.run(1);
  simulation.run(1);  // one evaluation, which the report is of: leapfrog's first step takes two
  std::int64_t cells = 0;
  const TreeReport report = *simulation.status().tree;
  for (int level = 0; level <= report.depth + 1; ++level) {
    simulation.apply(ReadTreeCells{.most = 50, .level = level});
    simulation.advance_frame(0);
    simulation.wait();
    const auto read = simulation.status().tree_cells;
    ASSERT_TRUE(read) << level;
    EXPECT_EQ(read->asked.level, level);
    EXPECT_EQ(std::ssize(read->cells), std::min<std::int64_t>(read->count, 50));
    EXPECT_EQ(std::ranges::count(read->cells, level, &TreeCell::level), std::ssize(read->cells));
    EXPECT_FALSE(read->walk) << "nobody's was asked for";
    cells += read->count;
  }
  EXPECT_EQ(cells, report.cells);
}

TEST_P(EveryTree, ReadsTheWalkThatComputesTheForces) {
  constexpr int few = 300;
  Simulation simulation{test::backends(), {.scene = "plummer", .count = few}, GetParam()};
  // With local expansions, a group meets its far cells once for all of its bodies.
  if (GetParam()->tunable("order")) simulation.apply(SetTunable{"order", "quadrupole"});
  // With a tolerance, some bodies walk again, alone, and count twice.
  if (GetParam()->tunable("tolerance")) simulation.apply(SetTunable{"tolerance", "off"});
  simulation.apply(SetPaused{true});
  simulation.run(1);
  simulation.run(1);  // one evaluation: leapfrog's first step takes two
  std::int64_t met = 0;
  for (int body = 0; body < few; ++body) {
    simulation.apply(ReadTreeCells{.most = 1, .walk_of = body});
    simulation.advance_frame(0);
    simulation.wait();
    const auto read = simulation.status().tree_cells;
    ASSERT_TRUE(read);
    EXPECT_EQ(read->asked.walk_of, body);
    if (!read->walk) GTEST_SKIP() << GetParam()->id << " cannot tell";
    EXPECT_GT(read->walk->bodies, 0) << "itself, at least";
    EXPECT_FALSE(read->walk->leaves.empty());
    met += std::ssize(read->walk->cells) + read->walk->bodies;
  }
  EXPECT_EQ(met, simulation.status().tree->interactions);
}

TEST_P(EveryTree, ReadsTheCellsOfTheLastStepWhilePaused) {
  Simulation simulation = EveryTree::simulation();
  simulation.apply(SetPaused{true});
  const auto read = [&] {
    simulation.apply(ReadTreeCells{});
    EXPECT_EQ(simulation.advance_frame(0), 0);
    simulation.wait();
    return simulation.status().tree_cells;
  };
  EXPECT_FALSE(read()) << "there was no step";
  simulation.apply(SetTimeStep{1e-6f});  // so all trees are nearly alike
  simulation.run(2);
  ASSERT_TRUE(simulation.status().tree_cells) << "the first read waited for a step";
  simulation.run(1);
  const Status before = simulation.status();
  EXPECT_EQ(before.tree_cells->step, 2);
  const auto cells = read();
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->step, 3);
  EXPECT_NEAR(static_cast<double>(cells->cells.size()), static_cast<double>(before.tree->cells), 5);
  const Status after = simulation.status();
  EXPECT_EQ(after.step, 3);
  EXPECT_EQ(after.tree->interactions, before.tree->interactions);
  EXPECT_EQ(after.timing.step_ms, before.timing.step_ms);
  simulation.apply(Restart{});
  EXPECT_FALSE(read()) << "the tree stands on other bodies";
}

TEST_P(EveryTree, TellsOfItsTreesWhileFramesAreUnderWay) {
  Simulation simulation = EveryTree::simulation();
  simulation.apply(SetStepsPerFrame{5});
  int batches = 0, reads = 0;
  std::shared_ptr<const TreeCells> last;
  while (batches < 20) {
    simulation.apply(ReadTreeCells{.most = 100});
    simulation.advance_frame(0);
    for (const StepTiming& timing : simulation.collect()) {
      ++batches;
      EXPECT_GT(timing.interactions_per_evaluation, count);
    }
    const Status status = simulation.status();
    ASSERT_EQ(status.last_error, "");
    ASSERT_EQ(status.tree.has_value(), batches > 0);
    if (status.tree_cells == last) continue;
    last = status.tree_cells;
    ++reads;
    EXPECT_EQ(last->step % 5, 0);
    EXPECT_EQ(last->cells.size(), 100u);
    EXPECT_EQ(last->cells.front().level, 0);
  }
  EXPECT_GT(reads, 1);
}

TEST_P(EveryTree, StandsOnOtherBodiesAtOnce) {
  Simulation simulation = EveryTree::simulation();
  if (simulation.status().settings.has("rebuild")) simulation.apply(SetTunable{"rebuild", "16"});
  simulation.run(3);
  simulation.apply(LoadScene{{.scene = "collision", .count = count}});
  simulation.run(2);
  Simulation fresh{test::backends(), {.scene = "collision", .count = count}, GetParam()};
  fresh.run(2);
  EXPECT_LT(simulation.status().tree->interactions, 1.1 * static_cast<double>(fresh.status().tree->interactions));
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryTree, testing::ValuesIn(test::trees_under_test()), test::test_name);

TEST(DirectSum, HasNoTreeAndCountsAllPairs) {
  for (const KernelPtr& kernel : test::kernels_under_test()) {
    if (kernel->is_tree) continue;
    ORRERY_SKIP_WITHOUT_BACKEND();
    Simulation simulation{test::backends(), {.scene = "plummer", .count = 64}, kernel};
    simulation.apply(ReadTreeCells{});
    const StepTiming timing = simulation.run(1);
    EXPECT_FALSE(simulation.status().tree || simulation.status().tree_cells) << kernel->id;
    // Also by kernels that evaluate each pair once.
    EXPECT_EQ(timing.interactions_per_evaluation, 64. * 64) << kernel->id;
    EXPECT_EQ(simulation.status().interactions_per_step, 64. * 64) << kernel->id;
  }
}

}  // namespace
}  // namespace orrery
