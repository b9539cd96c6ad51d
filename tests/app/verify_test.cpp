#include <gtest/gtest.h>

#include <limits>

#include "app/measure.h"
#include "app/verify_command.h"

namespace orrery {
namespace {

TEST(Verify, LetsNoNanPass) {
  constexpr Tolerance tolerance{.median = 1e-5, .max = 1e-3};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(within({.rms = 1, .median = 1e-5, .p99 = 1, .max = 1e-3}, tolerance));
  EXPECT_FALSE(within({.rms = 0, .median = 2e-5, .p99 = 0, .max = 0}, tolerance));
  EXPECT_FALSE(within({.rms = 0, .median = 0, .p99 = 0, .max = 2e-3}, tolerance));
  EXPECT_FALSE(within({.rms = nan, .median = nan, .p99 = nan, .max = nan}, tolerance));
}

TEST(Measure, MakesARepeatLastLongEnough) {
  EXPECT_EQ(steps_for_a_repeat(100), 1);
  EXPECT_EQ(steps_for_a_repeat(20), 1);
  EXPECT_EQ(steps_for_a_repeat(0.15), 134);
  EXPECT_EQ(steps_for_a_repeat(0), 100000);
  EXPECT_EQ(steps_for_a_repeat(std::numeric_limits<double>::quiet_NaN()), 1);
}

}  // namespace
}  // namespace orrery
