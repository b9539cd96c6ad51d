#include "app/features/race/race_window.h"

#include "app/features/race/race.h"
#include "compute/core/error.h"
#include "tests/app/support/test.h"
#include "tests/app/window/beside_a_window.h"

namespace orrery::test {
namespace {

class RaceBesideAWindow : public BesideAWindow<RaceControl, RaceStatus> {};

TEST_F(RaceBesideAWindow, MeasuresPausesAndWritesFiles) {
  shown.apply(SetTunable{"threads", "1"});
  control.start({.until = 0.1, .kernels = {}, .integrators = {"euler", "yoshida4"}, .time_steps = {0.02f, 0.01f}},
                shown, status);
  EXPECT_TRUE(status.active);
  EXPECT_TRUE(shown.status().paused);
  expect_holds(status.present, {"cpu-simd"});
  frames();
  EXPECT_FALSE(status.active);
  EXPECT_FALSE(shown.status().paused) << "it goes on";
  EXPECT_EQ(shown.status().step, 0) << "the race has a simulation of its own";
  ASSERT_EQ(status.rows.size(), 4u);
  for (const RaceRun& row : status.rows) {
    EXPECT_EQ(row.problem.text, "");
    EXPECT_GT(row.seconds, 0);
    EXPECT_LT(row.energy_error, 0.1);
    EXPECT_EQ(Settings::values_of(row.settings).at("threads"), "1") << "the settings of the shown kernel";
    EXPECT_EQ(row.scene, shown.status().scene);
    EXPECT_EQ(row.count, 40);
  }
  EXPECT_EQ(status.rows[0].integrator_id, "euler");
  EXPECT_EQ(status.rows[0].steps, 5);
  EXPECT_EQ(status.rows[3].steps, 10);
  EXPECT_LT(status.rows[2].energy_error, status.rows[0].energy_error) << "the higher order";
  EXPECT_TRUE(std::ranges::any_of(status.rows, &RaceRun::on_front));
  ASSERT_FALSE(status.best.empty());
  EXPECT_LE(status.rows[status.best.back().run].energy_error, status.best.back().limit);
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.files.size(), 2u);
  const Json whole = Json::parse(std::ifstream{status.files[1]});
  EXPECT_EQ(whole["metadata"]["until"], 0.1);
  EXPECT_EQ(whole["results"].size(), 4u);
  EXPECT_EQ(whole["stopped"], false);
}

TEST_F(RaceBesideAWindow, StopsAndLeavesAPausedSystemPaused) {
  shown.apply(SetPaused{true});
  control.start({.until = 1e4, .kernels = {}, .integrators = {"leapfrog"}, .time_steps = {5000, 0.0001f}}, shown,
                status);
  EXPECT_THROW(control.start({.until = 1}, shown, status), UsageError) << "one at a time";
  frames([&] { return !status.rows.empty(); });
  EXPECT_TRUE(control.stop(shown, status));
  EXPECT_FALSE(control.stop(shown, status));
  EXPECT_FALSE(status.active);
  EXPECT_TRUE(shown.status().paused);
  ASSERT_EQ(status.rows.size(), 1u) << "what was measured is kept";
  ASSERT_EQ(status.files.size(), 2u);
  EXPECT_EQ(Json::parse(std::ifstream{status.files[1]})["stopped"], true);
}

TEST_F(RaceBesideAWindow, TakesAKernelThatGivesJerksWhereOneIsNeeded) {
  const auto ids = [&](const StartRace& asked) {
    std::vector<std::string> kernels;
    for (const Variant& variant : race_plan(backends(), asked, shown.status()).variants) {
      kernels.emplace_back(variant.kernel->id);
    }
    return kernels;
  };
  const std::string jerks = backends().default_kernel(/*jerks=*/true)->id;
  EXPECT_EQ(ids({.until = 1, .integrators = {"leapfrog"}}), std::vector<std::string>{"cpu-simd"});
  EXPECT_EQ(ids({.until = 1, .integrators = {"hermite4"}}), std::vector<std::string>{jerks});
  EXPECT_EQ(ids({.until = 1}), (std::vector<std::string>{"cpu-simd", jerks})) << "all integrators";
  EXPECT_EQ(ids({.until = 1, .kernels = {"cpu-serial"}}), std::vector<std::string>{"cpu-serial"});
  const RacePlan named = race_plan(backends(), {.until = 1, .kernels = {"cpu-serial"}}, shown.status());
  EXPECT_EQ(std::ranges::count(named.integrators, "hermite4"), 0) << "it gives no jerks";
  EXPECT_THROW((void)race_plan(backends(), {.until = 1, .kernels = {"cpu-none"}}, shown.status()), UsageError);
}

TEST_F(RaceBesideAWindow, RefusesTooManyStepsAndChangesNothing) {
  EXPECT_THROW(control.start({.until = 1e9, .integrators = {"leapfrog"}, .time_steps = {1e-6f}}, shown, status),
               UsageError);
  EXPECT_FALSE(status.active);
  EXPECT_FALSE(shown.status().paused);
}

TEST_F(RaceBesideAWindow, TakesTheBodiesOfAFile) {
  std::ofstream{"two.txt"} << "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n";
  Simulation of_file{backends(), {.file = "two.txt"}, find_kernel("cpu-simd")};
  control.start({.until = 0.1, .integrators = {"leapfrog"}, .time_steps = {0.05f}}, of_file, status);
  frames(of_file, [] { return false; });
  ASSERT_EQ(status.rows.size(), 1u);
  EXPECT_EQ(status.rows[0].problem.text, "");
  EXPECT_EQ(status.rows[0].count, 2);
  EXPECT_EQ(status.rows[0].scene.file, "two.txt");
}

}  // namespace
}  // namespace orrery::test
