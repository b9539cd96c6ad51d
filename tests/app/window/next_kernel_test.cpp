#include "app/window/next_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "app/ui_state/window_commands.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

class NextKernelTest : public testing::Test {
 protected:
  NextKernelTest() {
    view_.kernels = test::kernels();
    view_.backends = test::backends().statuses();
    status_.integrator_id = "leapfrog";
    status_.count = 1000;
    select(auto_kernel);
  }

  void select(const std::string& id) {
    const KernelPtr named = find_kernel_or_auto(test::catalog(), id);
    status_.kernel = named ? named : test::backends().default_kernel();
    status_.kernel_id = status_.kernel->id;
    status_.auto_choice = named ? std::nullopt : std::optional{AutoChoice{}};
  }
  NextKernel next(Direction direction = Direction::forward) const {
    return next_kernel(status_, view_, results_, direction);
  }
  void measured(const char* id, int count, double median_ms) {
    Result row;
    row.kernel_id = id;
    row.integrator_id = "leapfrog";
    row.count = count;
    row.step_ms.median = median_ms;
    results_.push_back(row);
  }
  double forecast(const char* id) const { return forecast_step_s(*test::find_kernel(id), status_, results_); }

  Status status_;
  ViewStatus view_;
  std::vector<Result> results_;
};

TEST_F(NextKernelTest, VisitsEveryUsableKernelAndAutoAndComesBack) {
  std::size_t choices = 1;
  for (const KernelPtr& kernel : test::kernels()) choices += test::backends().status(kernel->backend).available ? 1 : 0;
  std::set<std::string> visited;
  for (std::size_t i = 0; i < choices; ++i) {
    const NextKernel to = next();
    EXPECT_TRUE(to.slow.empty() && to.notice().empty());
    visited.insert(to.id);
    select(to.id);
    EXPECT_TRUE(test::backends().status(status_.kernel->backend).available) << status_.kernel_id;
  }
  EXPECT_EQ(visited.size(), choices);
  EXPECT_TRUE(status_.auto_choice);
}

TEST_F(NextKernelTest, VisitsOnlyKernelsThatSuitTheIntegrator) {
  status_.integrator_id = "hermite4";
  std::set<std::string> visited;
  for (int i = 0; i < 4; ++i) {
    visited.insert(next().id);
    select(next().id);
    EXPECT_TRUE(status_.auto_choice || status_.kernel->gives_jerks) << status_.kernel_id;
  }
  EXPECT_TRUE(visited.contains("cpu-jerk"));
  EXPECT_TRUE(visited.contains(auto_kernel));
}

TEST_F(NextKernelTest, GoesBack) {
  for (const char* id : {auto_kernel, test::backends().default_kernel()->id}) {
    select(id);
    const NextKernel to = next();
    EXPECT_NE(to.id, id);
    select(to.id);
    EXPECT_EQ(next(Direction::back).id, id);
  }
}

TEST_F(NextKernelTest, PassesOverWhatIsMuchTooSlow) {
  status_.count = 1 << 18;  // some minutes per step of one thread
  ASSERT_STREQ(view_.kernels.front()->id, "cpu-serial");
  const NextKernel to = next();
  EXPECT_EQ(std::ranges::count(to.slow, "cpu-serial"), 1);
  EXPECT_NE(to.id, "cpu-serial");
  EXPECT_NE(to.notice().find("cpu-serial"), std::string::npos);
  EXPECT_NE(to.notice().find("0.5 s per step"), std::string::npos);
  EXPECT_EQ(forecast("cpu-tree"), 0) << "nothing is known of a tree";
  select("cpu-tree");
  for (const Direction way : {Direction::forward, Direction::back}) {
    EXPECT_EQ(std::ranges::count(next(way).slow, "cpu-tree"), 0) << "it is the present one";
  }
}

TEST_F(NextKernelTest, GoesByWhatWasMeasured) {
  status_.count = 2000;
  measured("cpu-serial", 1000, 250);
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 1.0) << "of twice as many bodies";
  EXPECT_EQ(next().slow, std::vector<std::string>{"cpu-serial"});
  measured("cpu-serial", 1000, 25);
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 0.1) << "with its best settings";
  EXPECT_TRUE(next().slow.empty());
  measured("cpu-tree", 1000, 25);
  EXPECT_DOUBLE_EQ(forecast("cpu-tree"), 0.05);
}

TEST_F(NextKernelTest, AnIntegratorWithMoreEvaluationsIsSlower) {
  const double leapfrog = forecast("cpu-serial");
  EXPECT_GT(leapfrog, 0);
  status_.integrator_id = "yoshida4";
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 3 * leapfrog);
  measured("cpu-serial", 1000, 200);
  EXPECT_DOUBLE_EQ(forecast("cpu-serial"), 0.6) << "measured with leapfrog";
}

TEST_F(NextKernelTest, KernelsWithoutTargetsEvaluateAllBodiesInEverySubstep) {
  const double equal_steps = forecast("cpu-symmetric");
  status_.integrator_id = "leapfrog-blocks";
  status_.block_steps = true;
  status_.levels = LevelCounts{900, 0, 0, 100};
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 8 * equal_steps);
  measured("cpu-symmetric", 1000, 100);
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 0.8) << "measured with leapfrog";
  measured("cpu-symmetric", 1000, 300);
  results_.back().integrator_id = "leapfrog-blocks";
  results_.back().eta = 0.5f;
  results_.back().step_ms.median = 10;
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 0.8) << "of other levels";
  results_.back().eta = status_.eta;
  EXPECT_DOUBLE_EQ(forecast("cpu-symmetric"), 0.01);
}

TEST_F(NextKernelTest, AKernelOutsideTheListLeadsToItsBegin) {
  select("cpu-simd");
  status_.kernel_id = "removed";
  EXPECT_EQ(next().id, auto_kernel);
}

TEST_F(NextKernelTest, StaysIfThereIsNoOther) {
  for (const KernelPtr& kernel : view_.kernels) measured(kernel->id, 1000, 1e6);
  const NextKernel to = next();
  EXPECT_EQ(to.id, auto_kernel) << "it is never passed over";
  select(view_.kernels.front()->id);
  EXPECT_EQ(next().id, auto_kernel);
}

}  // namespace
}  // namespace orrery
