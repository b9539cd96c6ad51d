// When `auto` chooses again because the forces have become less accurate.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "app/window/monitor.h"

namespace orrery {
namespace {

class AccuracyWatchTest : public testing::Test {
 protected:
  AccuracyWatchTest() {
    status.accuracy = 1e-4;
    status.auto_choice = AutoChoice{.name = "auto: cpu-tree", .how = ""};
  }

  /// Whether it asks for a choice at any frame until the next probe, which has this median error.
  bool probed(double median, int sample = 1024) {
    status.force_probe = ForceProbe{.step = ++step, .sample = sample, .error = {median, median, median, median}};
    bool asked = false;
    for (int frame = 0; frame < 10; ++frame, now_s += 0.05) asked |= watch.tune_again(now_s, status);
    return asked;
  }
  /// The times in seconds at which it asks while all probes have this error.
  std::vector<double> choices(double median, double duration_s) {
    std::vector<double> times;
    for (const double end_s = now_s + duration_s; now_s < end_s;) {
      if (probed(median)) times.push_back(now_s);
    }
    return times;
  }

  AccuracyWatch watch;
  Status status;
  std::int64_t step = 0;
  double now_s = 100;
};

TEST_F(AccuracyWatchTest, AsksAfterTwoProbesAboveTheAccuracy) {
  EXPECT_FALSE(probed(0.9e-4));
  EXPECT_FALSE(probed(2e-4));
  EXPECT_TRUE(probed(2e-4));
}

TEST_F(AccuracyWatchTest, OneProbeOrASmallExcessIsNotEnough) {
  for (int time = 0; time < 50; ++time) {
    EXPECT_FALSE(probed(2e-4));
    EXPECT_FALSE(probed(1e-4));
  }
  EXPECT_TRUE(choices(1.05e-4, 60).empty()) << "within the scatter of 1,024 bodies";
  EXPECT_FALSE(choices(1.1e-4, 60).empty());
  EXPECT_FALSE(probed(1.2e-4, 64));
  EXPECT_FALSE(probed(1.2e-4, 64)) << "within the scatter of 64 bodies";
}

TEST_F(AccuracyWatchTest, AsksForATailAboveFiveTimesTheAccuracyAsWell) {
  const auto asks = [&](double p99) {
    bool asked = false;
    for (int probe = 0; probe < 4; ++probe, now_s += 1000) {
      status.force_probe = ForceProbe{.step = ++step, .sample = 1024, .error = {1e-4, 0.5e-4, p99, 1}};
      asked |= watch.tune_again(now_s, status);
    }
    return asked;
  };
  EXPECT_FALSE(asks(4.9e-4));
  EXPECT_FALSE(asks(7e-4)) << "within the scatter of ten bodies";
  EXPECT_TRUE(asks(9e-4));
}

TEST_F(AccuracyWatchTest, PausesLongerWhereAChoiceDoesNotHelp) {
  const std::vector<double> times = choices(2e-4, 200);
  ASSERT_EQ(times.size(), 4u);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_NEAR(times[i] - times[i - 1], 20 * std::exp2(i - 1), 1) << i;
  }
  choices(2e-4, 10'000);
  EXPECT_EQ(choices(2e-4, 6400).size(), 10u) << "the longest pause";
}

TEST_F(AccuracyWatchTest, AChoiceThatHelpsEndsTheLongPauses) {
  choices(2e-4, 100);
  EXPECT_FALSE(probed(0.9e-4));
  now_s += AccuracyWatch::shortest_pause_s;
  EXPECT_FALSE(probed(2e-4));
  EXPECT_TRUE(probed(2e-4));
}

TEST_F(AccuracyWatchTest, IsSilentWhereAutoPromisesNothing) {
  status.accuracy = 0;
  EXPECT_TRUE(choices(1, 60).empty()) << "exact";
  status.accuracy = 1e-4;
  status.auto_choice.reset();
  EXPECT_TRUE(choices(1, 60).empty()) << "the user chose the kernel";
  status.auto_choice = AutoChoice{};
  status.choosing = true;
  EXPECT_TRUE(choices(1, 60).empty()) << "it is choosing";
  status.choosing = false;
  EXPECT_TRUE(choices(std::numeric_limits<double>::quiet_NaN(), 60).empty()) << "the run stops";
  status.force_probe.reset();
  EXPECT_FALSE(watch.tune_again(now_s, status));
}

TEST_F(AccuracyWatchTest, ProbesOfAnotherKernelDoNotCount) {
  EXPECT_FALSE(probed(2e-4));
  status.force_probe.reset();  // the kernel was changed
  watch.tune_again(now_s, status);
  EXPECT_FALSE(probed(2e-4));
  EXPECT_TRUE(probed(2e-4));
}

}  // namespace
}  // namespace orrery
