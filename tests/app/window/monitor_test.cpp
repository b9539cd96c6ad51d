#include "app/window/monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

namespace orrery {
namespace {

/// A simulation that runs, on a clock that stands still.
class MonitorTest : public testing::Test {
 protected:
  MonitorTest() { status_.count = 16384; }

  /// Asks at `frames` frames, `period_s` apart.
  std::vector<Command> asked(int frames, double period_s) {
    std::vector<Command> all;
    for (int i = 0; i < frames; ++i) {
      for (const Command& command : monitor_.due(now_s_, status_, wanted_)) all.push_back(command);
      now_s_ += period_s;
    }
    return all;
  }
  template <class Kind>
  static int count(const std::vector<Command>& commands) {
    return static_cast<int>(
        std::ranges::count_if(commands, [](const Command& c) { return std::holds_alternative<Kind>(c); }));
  }
  /// The sample of the next probe.
  int next_sample() {
    for (;;) {
      for (const Command& command : asked(1, 1 / 64.0)) {
        if (const auto* probe = std::get_if<ProbeForces>(&command)) return probe->sample;
      }
    }
  }
  void probed(int sample, double ms) { status_.force_probe = ForceProbe{.step = 1, .sample = sample, .ms = ms}; }
  ViewStatus described() {
    ViewStatus view;
    view.diagnostics = wanted_;
    monitor_.describe(view, status_, now_s_);
    return view;
  }
  void summed(std::int64_t step) {
    status_.step = step;
    status_.conserved = ConservedProbe{.step = step, .sim_time = 0.1 * static_cast<double>(step), .sums = {}, .ms = 1};
  }

  Monitor monitor_{false};
  Status status_;
  Diagnostics wanted_;
  double now_s_ = 100;
};

TEST_F(MonitorTest, ProbesEveryBodyInTurnAlsoWhilePaused) {
  wanted_.every_body = true;
  wanted_.probe = false;
  status_.paused = true;
  std::set<int> turns;
  const auto commands = asked(64, 1 / 64.0);
  for (const Command& command : commands) turns.insert(std::get<ProbeForces>(command).turn);
  EXPECT_EQ(turns.size(), commands.size());
  EXPECT_GE(turns.size(), 8u);
  probed(256, 50);
  EXPECT_LE(asked(64, 1 / 64.0).size(), 3u) << "in a tenth of the time";
  wanted_.every_body = false;
  EXPECT_TRUE(asked(64, 1 / 64.0).empty());
}

TEST_F(MonitorTest, ProbesTwiceASecondAndKeepsAStateEveryFiveSeconds) {
  const auto commands = asked(640, 1 / 64.0);
  EXPECT_EQ(count<ProbeForces>(commands), 20);
  EXPECT_EQ(count<KeepCheckpoint>(commands), 2);
  EXPECT_EQ(count<MeasureConserved>(commands), 0) << "nobody asked for it";
}

TEST_F(MonitorTest, LeavesAPausedOneAndAStepOnTheProcessorAlone) {
  status_.paused = true;
  EXPECT_TRUE(asked(100, 0.1).empty());
  status_.paused = false;
  status_.busy = true;
  EXPECT_TRUE(asked(100, 0.1).empty());
  status_.backend = Backend::cuda;
  EXPECT_FALSE(asked(1, 0.1).empty());
  status_.non_finite = NonFinite{};
  EXPECT_TRUE(asked(100, 0.1).empty());
}

TEST_F(MonitorTest, ComparesThePickedBodySoonAndOnceWhilePaused) {
  probed(256, 100);  // 2 % of 5 s
  next_sample();
  wanted_.body = 77;
  auto commands = asked(64, 1 / 64.0);
  ASSERT_EQ(count<ProbeForces>(commands), 2) << "until its error is known";
  EXPECT_EQ(std::get<ProbeForces>(commands.front()).body, 77);
  status_.paused = true;
  EXPECT_EQ(count<ProbeForces>(asked(64, 1 / 64.0)), 2);
  status_.force_probe->bodies = std::make_shared<const BodyErrors>(BodyErrors{{3, 77}, {1e-6, 2e-6}});
  status_.step = status_.force_probe->step;
  EXPECT_TRUE(asked(640, 1 / 64.0).empty()) << "it is known, and the bodies do not move";
  ++status_.step;
  EXPECT_FALSE(asked(64, 1 / 64.0).empty()) << "the shown bodies are those of a later step";
  status_.paused = false;
  EXPECT_EQ(count<ProbeForces>(asked(640, 1 / 64.0)), 2) << "as often as the sample";
  wanted_.body = status_.count;
  status_.paused = true;
  EXPECT_TRUE(asked(64, 1 / 64.0).empty()) << "there is no such body";
  wanted_.body = 78;
  wanted_.probe = false;
  EXPECT_TRUE(asked(64, 1 / 64.0).empty()) << "the user wants no comparisons";
}

TEST_F(MonitorTest, DoesNotProbeWhenTold) {
  wanted_.probe = false;
  EXPECT_EQ(count<ProbeForces>(asked(640, 1 / 64.0)), 0);
  EXPECT_EQ(described().probe_interval_s, 0);
}

TEST_F(MonitorTest, TakesTheLargestSampleThatCostsLittle) {
  EXPECT_EQ(next_sample(), 256) << "nothing is known yet";
  probed(256, 0.5);  // 4096 would take 8 ms, of 10
  EXPECT_EQ(next_sample(), 4096);
  probed(4096, 20);  // 1024 take 5 ms
  EXPECT_EQ(next_sample(), 1024);
  probed(1024, 400);
  EXPECT_EQ(next_sample(), 256);
  wanted_.sample = 4096;
  EXPECT_EQ(next_sample(), 4096) << "as asked for, whatever it costs";
}

TEST_F(MonitorTest, ProbesLessOftenWhereEvenTheSmallestSampleCostsTooMuch) {
  probed(256, 100);  // 2 % of 5 s
  next_sample();
  EXPECT_EQ(count<ProbeForces>(asked(1920, 1 / 64.0)), 6) << "in 30 s";
  EXPECT_DOUBLE_EQ(described().probe_interval_s, 5);
  status_.force_probe.reset();  // another kernel
  EXPECT_EQ(count<ProbeForces>(asked(64, 1 / 64.0)), 2) << "its error is wanted soon";
  status_.count = 1024;
  EXPECT_EQ(next_sample(), 256);
  EXPECT_DOUBLE_EQ(described().probe_interval_s, 0.5) << "the cost was of another number of bodies";
}

TEST_F(MonitorTest, SumsUpAtTheIntervalOrAsOftenAsATenthOfTheTimeAllows) {
  wanted_.conserved_interval_s = 2;
  summed(1);
  EXPECT_EQ(count<MeasureConserved>(asked(640, 1 / 64.0)), 5);
  status_.conserved->ms = 400;
  asked(1, 4);
  EXPECT_DOUBLE_EQ(described().conserved_interval_s, 4);
  EXPECT_EQ(count<MeasureConserved>(asked(512, 1 / 64.0)), 2);
}

TEST_F(MonitorTest, LooksAtASingleStep) {
  status_.paused = true;
  auto commands = monitor_.with_step(status_, wanted_);
  EXPECT_EQ(count<ProbeForces>(commands), 1);
  EXPECT_EQ(count<MeasureConserved>(commands), 0);
  wanted_.conserved_interval_s = 2;
  EXPECT_EQ(count<MeasureConserved>(monitor_.with_step(status_, wanted_)), 1);
  status_.backend = Backend::cuda;
  status_.count = 1 << 20;
  wanted_.probe = false;
  EXPECT_TRUE(monitor_.with_step(status_, wanted_).empty()) << "too long to be measured unasked";
}

TEST_F(MonitorTest, LeavesSumsThatWouldTakeTheGpuTooLongUntilTheyAreAskedFor) {
  const auto withheld = [&] { return described().conserved_withheld_s; };
  const auto sums = [&] { return count<MeasureConserved>(asked(64, 1 / 8.0)); };
  status_.backend = Backend::cuda;
  status_.count = 1 << 20;
  EXPECT_FALSE(withheld()) << "nobody wants them";
  wanted_.conserved_interval_s = 2;
  wanted_.probe = false;
  EXPECT_GT(withheld().value(), Monitor::longest_sum_s) << "nothing is known of this GPU";
  EXPECT_EQ(described().conserved_interval_s, 0);
  EXPECT_EQ(sums(), 0);
  probed(256, 0.256 * 2);  // 2 us for a million pairs
  EXPECT_NEAR(withheld().value(), 0.001 * (1 << 20) * 1e-3, 1e-3);
  probed(256, 0.256 * 0.2);
  EXPECT_FALSE(withheld());
  EXPECT_GT(sums(), 0);
  probed(256, 0.256 * 2);
  summed(1);
  status_.conserved->ms = 100;
  EXPECT_FALSE(withheld()) << "what they took counts";
  status_.conserved->ms = 300;
  EXPECT_DOUBLE_EQ(withheld().value(), 0.3);
  status_.conserved.reset();
  status_.force_probe.reset();
  status_.count = 1 << 21;
  EXPECT_DOUBLE_EQ(withheld().value(), 1.2) << "four times the pairs";
  status_.backend = Backend::cpu;
  EXPECT_FALSE(withheld()) << "the window does not wait for it";
}

TEST_F(MonitorTest, DecidesByTheClockAloneWhereRunsAreToBeRepeatable) {
  Monitor monitor{true};
  probed(256, 1e4);
  int probes = 0;
  for (int frame = 0; frame < 300; ++frame) {
    for (const Command& command : monitor.due(frame / 60.0, status_, wanted_)) {
      const auto* probe = std::get_if<ProbeForces>(&command);
      if (!probe) continue;
      ++probes;
      EXPECT_EQ(probe->sample, 256);
    }
  }
  EXPECT_EQ(probes, 10) << "each 30 frames";
}

TEST_F(MonitorTest, KeepsAHistoryFromTheFirstSumsOn) {
  for (int step = 0; step < 2000; ++step) {
    summed(step);
    described();
    ASSERT_LE(described().conserved_history.size(), Monitor::history_length);
  }
  const auto history = described().conserved_history;
  EXPECT_GT(history.size(), Monitor::history_length / 4);
  EXPECT_EQ(history.front().step, 0);
  EXPECT_EQ(history.back().step, 1999);
  EXPECT_TRUE(std::ranges::is_sorted(history, {}, &ConservedProbe::step));
}

TEST_F(MonitorTest, TellsTheTimeThatReallyPassedBetweenSums) {
  summed(1);
  EXPECT_FALSE(described().conserved_gap_s) << "there is none before";
  now_s_ += 0.25;
  EXPECT_FALSE(described().conserved_gap_s) << "still the first";
  summed(2);
  EXPECT_DOUBLE_EQ(described().conserved_gap_s.value(), 0.25);
  now_s_ += 1;
  EXPECT_DOUBLE_EQ(described().conserved_gap_s.value(), 0.25) << "until the next";
  status_.conserved.reset();
  EXPECT_FALSE(described().conserved_gap_s);
  probed(256, 1);
  described();
  now_s_ += 0.5;
  probed(256, 2);
  EXPECT_DOUBLE_EQ(described().probe_gap_s.value(), 0.5);
}

TEST_F(MonitorTest, ForgetsWhatIsOfAnotherSceneLawOrFuture) {
  const auto steps = [&] { return described().conserved_history.size(); };
  for (const int step : {0, 10, 20}) {
    summed(step);
    steps();
  }
  EXPECT_EQ(steps(), 3u);
  status_.step = 15;  // restored
  EXPECT_EQ(steps(), 2u);
  status_.law.softening *= 2;
  EXPECT_EQ(steps(), 0u) << "another potential";
  summed(30);
  EXPECT_EQ(steps(), 1u);
  status_.scene.seed = 7;
  status_.conserved.reset();
  EXPECT_EQ(steps(), 0u);
}

}  // namespace
}  // namespace orrery
