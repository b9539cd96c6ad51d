#include <gtest/gtest.h>

#include <limits>

#include "app/lab/statistics.h"

namespace orrery {
namespace {

using Limits = std::numeric_limits<double>;
using Indices = std::vector<std::size_t>;

TEST(ParetoFront, OfNothingIsNothing) {
  EXPECT_TRUE(pareto_front({}).empty());
}

TEST(ParetoFront, KeepsWhatNothingBeatsFromTheLeastErrorOn) {
  const SpeedError points[] = {
      {1e-3, 9}, {1e-7, 2}, {1e-5, 5}, {1e-5, 4}, {1e-4, 5}, {1e-2, 8},
  };
  EXPECT_EQ(pareto_front(points), (Indices{1, 2, 0}));
}

TEST(ParetoFront, AnErrorThatIsNoNumberIsNeverOnIt) {
  const SpeedError points[] = {{Limits::quiet_NaN(), 100},
                               {1e-7, 1},
                               {1e-7, Limits::quiet_NaN()},
                               {Limits::infinity(), 50},
                               {1e-6, Limits::infinity()}};
  EXPECT_EQ(pareto_front(points), Indices{1});
  EXPECT_TRUE(pareto_front(std::span{points}.first(1)).empty());
}

TEST(ParetoFront, EqualPointsStayTogetherAndZeroIsAnError) {
  const SpeedError points[] = {{1e-7, 3}, {0, 1}, {1e-7, 3}, {1e-7, 2}};
  EXPECT_EQ(pareto_front(points), (Indices{1, 0, 2}));
}

}  // namespace
}  // namespace orrery
