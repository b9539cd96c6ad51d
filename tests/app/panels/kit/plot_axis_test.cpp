#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "app/panels/kit/plots.h"

namespace orrery {
namespace {

TEST(LinearAxis, HoldsTheFiniteValues) {
  const LinearAxis axis = LinearAxis::around(std::vector{1.0, 3.0, double{NAN}, double{INFINITY}}, false);
  EXPECT_LT(axis.low, 1);
  EXPECT_GT(axis.low, 0.5);
  EXPECT_GT(axis.high, 3);
  EXPECT_LT(axis.high, 3.5);
  EXPECT_LT(axis.at(1), axis.at(3));
}

TEST(LinearAxis, BeginsAtZeroIfAsked) {
  const LinearAxis axis = LinearAxis::around(std::vector{1.0, 3.0}, true);
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.at(0), 0);
}

TEST(LinearAxis, HasASensibleEndForZeros) {
  const LinearAxis drift = LinearAxis::around(std::vector{0.0, 0.0}, true, 1e-7);
  EXPECT_EQ(drift.low, 0);
  EXPECT_EQ(drift.high, 1e-7);
  EXPECT_EQ(LinearAxis::around(std::vector{1e-12, 0.0}, true, 1e-7).high, 1.08e-12) << "they are not all 0";
}

TEST(LinearAxis, HasALengthForOneValueAndForNone) {
  for (const double value : {-2.0, 2.0, 1e-300, 0.0, double{NAN}}) {
    for (const bool from_zero : {false, true}) {
      const LinearAxis axis = LinearAxis::around(std::vector{value}, from_zero);
      EXPECT_LT(axis.low, axis.high) << value;
      EXPECT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high)) << value;
    }
  }
}

}  // namespace
}  // namespace orrery
