#include <gtest/gtest.h>

#include <limits>

#include "app/window/colouring.h"

namespace orrery {
namespace {

TEST(AutoRange, LeavesOutOutliersAndWhatIsNotFinite) {
  std::vector<float> values{1e9f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  for (int i = 0; i < 100; ++i) values.push_back(static_cast<float>(i));
  const render::ValueRange range = range_of(values);
  EXPECT_NEAR(range.low, 2, 1);
  EXPECT_NEAR(range.high, 98, 1);
}

TEST(AutoRange, IsNeverEmpty) {
  for (const std::vector<float>& values : {std::vector<float>{}, {0.0f, 0.0f}, {3.0f}}) {
    const render::ValueRange range = range_of(values);
    EXPECT_LT(range.low, range.high);
  }
}

TEST(AutoRange, GrowsAtOnceAndShrinksSlowly) {
  AutoRange range;
  range.restart({1, 2});
  EXPECT_TRUE(range.renew({0.5f, 8}));
  EXPECT_EQ(range.shown().low, 0.5f);
  EXPECT_EQ(range.shown().high, 8);
  EXPECT_FALSE(range.renew({1, 2}));
  range.follow(0.5);
  EXPECT_GT(range.shown().high, 7) << "bodies keep their colours";
  for (int i = 0; i < 60; ++i) range.follow(1);
  EXPECT_NEAR(range.shown().high, 2, 0.1f);
}

TEST(AutoRange, FollowsAlikeAtAnyFrameRate) {
  AutoRange coarse, fine;
  for (AutoRange* range : {&coarse, &fine}) {
    range->restart({0, 100});
    range->renew({0, 1});
  }
  coarse.follow(1);
  for (int i = 0; i < 100; ++i) fine.follow(0.01);
  EXPECT_NEAR(coarse.shown().high, fine.shown().high, 1e-2f);
}

}  // namespace
}  // namespace orrery
