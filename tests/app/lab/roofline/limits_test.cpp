#include "app/lab/roofline/limits.h"

#include <gtest/gtest.h>

#include <limits>

namespace orrery {
namespace {

TEST(ShareOfLimit, IsOfTheLimitAtTheClockInForce) {
  EXPECT_DOUBLE_EQ(share_of_limit(1e12, 13, 26e12, 1500, 1500).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_limit(1e12, 13, 26e12, 1500, 1200).value(), 0.625);
  EXPECT_DOUBLE_EQ(share_of_limit(1e12, 13, 26e12, 1500, 2000).value(), 0.375);
}

TEST(ShareOfLimit, IsOfTheLimitAsMeasuredWhereAClockIsNotKnown) {
  EXPECT_DOUBLE_EQ(share_of_limit(1e12, 13, 26e12, 1500, std::nullopt).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_limit(1e12, 13, 26e12, 0, 1200).value(), 0.5);
}

TEST(ShareOfLimit, IsNoneWhereNothingCanBeSaid) {
  EXPECT_FALSE(share_of_limit(1e12, std::nullopt, 26e12, 1500, 1500));
  EXPECT_FALSE(share_of_limit(0, 13, 26e12, 1500, 1500));
  EXPECT_FALSE(share_of_limit(1e12, 13, 0, 1500, 1500));
  EXPECT_FALSE(share_of_limit(std::numeric_limits<double>::quiet_NaN(), 13, 26e12, 1500, 1500));
}

}  // namespace
}  // namespace orrery
