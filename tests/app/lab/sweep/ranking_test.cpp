#include <gtest/gtest.h>

#include <limits>

#include "app/lab/statistics.h"

namespace orrery {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Summary interval(double low, double high) {
  return {.median = (low + high) / 2, .min = low, .low = low, .high = high};
}

TEST(Ranking, CountsIntervalsThatLieApart) {
  const std::vector<Summary> times{interval(3, 4), interval(1, 2), interval(5, 6)};
  EXPECT_EQ(ranks(times), (std::vector<Rank>{{2, 2}, {1, 1}, {3, 3}}));
}

// The middle one overlaps both others, which lie apart.
TEST(Ranking, LeavesOpenWhatOverlaps) {
  const std::vector<Summary> times{interval(1, 2), interval(1.5, 3.5), interval(3, 4)};
  EXPECT_EQ(ranks(times), (std::vector<Rank>{{1, 2}, {1, 3}, {2, 3}}));
}

TEST(Ranking, TakesIntervalsThatTouchForOverlapping) {
  EXPECT_EQ(ranks(std::vector<Summary>{interval(1, 2), interval(2, 3)}), (std::vector<Rank>{{1, 2}, {1, 2}}));
}

TEST(Ranking, LeavesOutWhatHasNoInterval) {
  const Summary unknown{.median = 1, .min = 1, .low = none, .high = none};
  EXPECT_EQ(ranks(std::vector<Summary>{unknown, interval(1, 2), unknown, interval(3, 4)}),
            (std::vector<Rank>{{0, 0}, {1, 1}, {0, 0}, {2, 2}}));
  EXPECT_TRUE(ranks({}).empty());
}

TEST(Ranking, IsWrittenAsOnePlaceOrAsRange) {
  EXPECT_EQ(to_string(Rank{2, 2}), "2");
  EXPECT_EQ(to_string(Rank{2, 4}), "2-4");
  EXPECT_EQ(to_string(Rank{}), "-");
}

}  // namespace
}  // namespace orrery
