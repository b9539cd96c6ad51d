#include "app/features/compare/compare.h"
#include "app/features/race/race.h"
#include "app/features/sweep/sweep.h"
#include "app/panels/kit/format.h"
#include "app/panels/panels.h"
#include "app/panels/sections.h"
#include "app/ui_state/lessons_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

RaceRun raced(const std::string& integrator, double seconds, double energy_error, bool on_front = false) {
  RaceRun row;
  row.kernel_id = "cpu-simd";
  row.integrator_id = integrator;
  row.time_step = 0.01f;
  row.count = 1000;
  row.steps = 100;
  row.seconds = seconds;
  row.energy_error = energy_error;
  row.on_front = on_front;
  return row;
}

TEST(PositiveNumbers, AreSeparatedByCommas) {
  EXPECT_EQ(positive_numbers_of(" 0.5, 1e-3 "), (std::vector{0.5f, 1e-3f}));
  EXPECT_EQ(positive_numbers_of(""), std::vector<float>{});
  for (const char* wrong : {"0", "-1", "x", "1,,2", "inf", "nan", "1 2"})
    EXPECT_FALSE(positive_numbers_of(wrong)) << wrong;
}

TEST_F(Panels, StartARace) {
  select(find_kernel("cpu-simd"));
  open_tab("race");
  const auto usual = only<StartRace>(click("race.start"));
  EXPECT_EQ(usual.until, 1);
  EXPECT_TRUE(usual.kernels.empty() && usual.integrators.empty() && usual.time_steps.empty());
  const auto close = [&] { click("lab.race"); };  // beside the list that is open
  pick("race.integrators", "leapfrog");
  close();
  pick("race.integrators", "yoshida4");
  close();
  pick("race.integrators", "leapfrog");
  close();
  pick("race.kernels", "cpu-serial");
  close();
  state.lab.drafts.of<RaceDraft>().until = "0.3";
  state.lab.drafts.of<RaceDraft>().time_steps = "0.01, 0.005";
  const auto chosen = only<StartRace>(click("race.start"));
  EXPECT_EQ(chosen.until, 0.3) << "as typed, not rounded to float";
  EXPECT_EQ(chosen.integrators, std::vector<std::string>{"yoshida4"}) << "ticked, and not unticked again";
  EXPECT_EQ(chosen.kernels, std::vector<std::string>{"cpu-serial"});
  EXPECT_EQ(chosen.time_steps, (std::vector{0.01f, 0.005f}));
}

TEST_F(Panels, ARaceStatesItsSizeAndTimeBeforeItStarts) {
  select(find_kernel("cpu-simd"));
  status.time_step = 0.01f;
  state.lab.drafts.of<RaceDraft>().integrators = {"leapfrog", "yoshida4"};
  state.lab.drafts.of<RaceDraft>().until = "1";
  open_tab("race");
  // 25 + 50 + 100 + 200 + 400 steps of each
  expect_holds(lab_text(), {"10 runs, 1,550 steps in all."});
  view.evaluation_s["cpu-simd"] = 0.01;  // leapfrog evaluates forces once per step, yoshida4 3 times
  view.conserved_sum_s = 1;              // 16 sums of each run, and one of the first state
  expect_holds(lab_text(), {"roughly 3 min 12 s here.", "The shown system rests meanwhile."});
}

TEST_F(Panels, ARaceSuggestsATimeThatSuitsTheMachine) {
  select(find_kernel("cpu-simd"));
  status.time_step = 0.01f;
  const auto suggested = [&] { return suggested_end({.integrators = {"leapfrog"}}, status, view); };
  EXPECT_EQ(suggested(), 1) << "nothing is known";
  view.evaluation_s["cpu-simd"] = 0.3;  // 233 s to 1, 116 s to 0.5
  EXPECT_EQ(suggested(), 0.2);
  open_tab("race");
  state.lab.drafts.of<RaceDraft>().integrators = {"leapfrog"};
  EXPECT_EQ(only<StartRace>(click("race.start")).until, 0.2);
  view.evaluation_s["cpu-simd"] = 100;
  EXPECT_EQ(suggested(), 0.2) << "four of the longest time steps";
  view.evaluation_s["cpu-simd"] = 1e-9;
  status.time_step = 1;
  EXPECT_EQ(suggested(), 100);
}

TEST_F(Panels, ARaceStartsOnlyWithNumbers) {
  open_tab("race");
  for (const std::string& wrong : "0 -1 soon inf 1,2"_words) {
    state.lab.drafts.of<RaceDraft>().until = wrong;
    EXPECT_TRUE(click("race.start").empty()) << wrong;
    expect_holds(lab_text(), {"Until must be"});
  }
  state.lab.drafts.of<RaceDraft>().until = "1";
  state.lab.drafts.of<RaceDraft>().time_steps = "0.01, 0";
  EXPECT_TRUE(click("race.start").empty());
  expect_holds(lab_text(), {"dt must be"});
  state.lab.drafts.of<RaceDraft>().time_steps.clear();
  view.measurement = {&sweep_user};
  settle();
  EXPECT_TRUE(click("race.start").empty()) << "a sweep needs the machine for itself";
}

TEST_F(Panels, StopARace) {
  view.features.of<RaceStatus>() = {
      .active = true, .until = 1, .present = "cpu-simd, leapfrog, dt 0.01", .done = 0.25, .left_s = 12};
  open_tab("race");
  EXPECT_FALSE(seen("race.start"));
  expect_holds(lab_text(), {"cpu-simd, leapfrog, dt 0.01"});
  only<StopRace>(click("race.stop"));
}

TEST_F(Panels, AMeasurementIsSeenAndStoppedFromEveryTab) {
  const auto stop = [this] {
    settle();
    return click("measurement.stop");
  };
  state.lab.folded = true;
  view.measurement = {&race_user, 0.25, 72};
  only<StopRace>(stop());
  EXPECT_GE(ui_marked("measurement").x0, side_column_width(view));
  view.panel = false;
  only<StopRace>(stop());
  view.measurement = {&sweep_user};
  only<StopSweep>(stop());
  view.measurement = {&lesson_user};
  EXPECT_FALSE(only<MeasureLesson>(stop()).on);
  view.lesson.shown = true;
  settle();
  EXPECT_LT(ui_marked("measurement.stop").x1, 1280 - lesson_width(view)) << "beside the lesson";
  view.lesson.shown = false;
  view.measurement.reset();
  settle();
  EXPECT_FALSE(seen("measurement"));
}

TEST_F(Panels, NothingIsMeasuredDuringAComparison) {
  select(find_kernel("cpu-simd"));
  view.features.of<CompareStatus>().with.kernel = "cpu-simd";
  view.features.of<CompareStatus>().active = true;
  view.second_run = &comparison_user;
  for (const auto& [tab, button] : {std::pair{"sweep", "sweep.start"}, {"race", "race.start"}}) {
    open_tab(tab);
    EXPECT_TRUE(click(button).empty()) << tab;
  }
  open_tab("compare");
  EXPECT_FALSE(click("compare.start").empty()) << "it starts anew";
}

TEST(MachineInUse, NamesItsUserAndTheButtonThatEndsIt) {
  ViewStatus view;
  EXPECT_EQ(machine_in_use(view), "");
  view.second_run = &comparison_user;
  EXPECT_EQ(machine_in_use(view), "Not now: two runs are compared. End in the tab Compare ends it.");
  view.second_run = nullptr;
  view.measurement = {&race_user};
  EXPECT_EQ(machine_in_use(view), "Not now: a race is being measured. Stop in the tab Race ends it.");
}

TEST_F(Panels, NothingElseStartsDuringARace) {
  view.measurement = {&race_user};
  for (const auto& [tab, button] : {std::pair{"sweep", "sweep.start"}, {"compare", "compare.start"}}) {
    open_tab(tab);
    EXPECT_TRUE(click(button).empty()) << tab;
    view.measurement.reset();
    settle();
    EXPECT_FALSE(click(button).empty()) << tab;
    view.measurement = {&race_user};
  }
}

TEST_F(Panels, ReturnToARunOfARace) {
  view.features.of<RaceStatus>().until = 1;
  view.features.of<RaceStatus>().rows = {raced("leapfrog", 1, 1e-4, true), raced("yoshida4", 10, 1e-6, true),
                                         raced("euler", 5, 1e-3), raced("hermite4", nan, nan)};
  view.features.of<RaceStatus>().rows[3].problem.text = "too few bodies";
  view.features.of<RaceStatus>().best = {{1e-4, 0}, {1e-6, 1}};
  open_tab("race");
  EXPECT_TRUE(seen("race.dot.0") && seen("race.dot.1") && seen("race.dot.2"));
  EXPECT_FALSE(seen("race.dot.3")) << "it did not reach the end";
  EXPECT_GT(ui_marked("race.dot.0").x0, ui_marked("race.dot.1").x0) << "a smaller error is at the left";
  EXPECT_GT(ui_marked("race.dot.0").y0, ui_marked("race.dot.1").y0) << "a shorter time is below";
  EXPECT_EQ(only<ReturnToRun>(click("race.dot.1")).run.physics.integrator_id, "yoshida4");
  EXPECT_EQ(only<ReturnToRun>(click("race.best.0")).run.physics.integrator_id, "leapfrog");
  expect_holds(lab_text(), {"1e-4", "1e-6", "10.0 s", "too few bodies", "1 of 4 runs"});
}

TEST_F(Panels, ARaceThatKeepsNoEnergySaysSo) {
  view.features.of<RaceStatus>().rows = {raced("euler", 1, 0.5, true)};
  open_tab("race");
  expect_holds(lab_text(), {"No run keeps the energy"});
}

}  // namespace
}  // namespace orrery::test
