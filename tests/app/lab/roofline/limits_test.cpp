#include <gtest/gtest.h>

#include <limits>

#include "app/lab/roofline/instruction_counts.h"

namespace orrery {
namespace {

TEST(ShareOfPeak, HoldsAtThePresentClock) {
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, 1500).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, 1200).value(), 0.625);
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, 2000).value(), 0.375);
}

TEST(ShareOfPeak, IsThatOfTheMeasuredPeakIfAClockIsNotKnown) {
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, std::nullopt).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 0, 1200).value(), 0.5);
}

TEST(ShareOfPeak, IsNoneIfAValueIsNotKnown) {
  EXPECT_FALSE(share_of_peak(1e12, std::nullopt, 26e12, 1500, 1500));
  EXPECT_FALSE(share_of_peak(0, 13, 26e12, 1500, 1500));
  EXPECT_FALSE(share_of_peak(1e12, 13, 0, 1500, 1500));
  EXPECT_FALSE(share_of_peak(std::numeric_limits<double>::quiet_NaN(), 13, 26e12, 1500, 1500));
}

TEST(ShareOfPeak, IsNoneIfThePeakWasExceeded) {
  EXPECT_DOUBLE_EQ(share_of_peak(2e12, 13, 26e12, 1500, 1500).value(), 1);
  EXPECT_FALSE(share_of_peak(2.01e12, 13, 26e12, 1500, 1500)) << "then it is not the peak";
}

TEST(RooflineShares, AreThoseOfIssueAndOfTheSpecialFunctionUnits) {
  const PeakRates peak{.fma_per_s = 4e9, .rsqrt_per_s = 1e9, .clock_mhz = 1000};
  const RooflineShares full = roofline_shares(1e8, {.instructions = 10, .mufu = 2}, peak, 1000);
  EXPECT_DOUBLE_EQ(full.issue.value(), 0.25);
  EXPECT_DOUBLE_EQ(full.mufu.value(), 0.2);
  EXPECT_DOUBLE_EQ(roofline_shares(1e8, {.instructions = 10}, peak, 500).issue.value(), 0.5);
  const RooflineShares mixed =
      roofline_shares(1e8, {.instructions = 10, .mufu = 2, .double_precision = true}, peak, {});
  EXPECT_FALSE(mixed.issue) << "double precision issues at another rate";
  EXPECT_DOUBLE_EQ(mixed.mufu.value(), 0.2);
}

}  // namespace
}  // namespace orrery
