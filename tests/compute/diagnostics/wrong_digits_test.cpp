#include "compute/diagnostics/wrong_digits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace orrery {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(FirstWrongDecimal, IsThatOfTheDifferencesSize) {
  EXPECT_EQ(first_wrong_decimal(0), WrongDigits::none);
  EXPECT_EQ(first_wrong_decimal(0.99e-7), WrongDigits::none);
  EXPECT_EQ(first_wrong_decimal(1e-7), 7);
  EXPECT_EQ(first_wrong_decimal(0.0099), 3);
  EXPECT_EQ(first_wrong_decimal(0.01), 2);
  EXPECT_EQ(first_wrong_decimal(-0.02), 2);
  EXPECT_EQ(first_wrong_decimal(0.1), 1);
  EXPECT_EQ(first_wrong_decimal(0.999), 1);
  EXPECT_EQ(first_wrong_decimal(1), 0);
}

TEST(FirstWrongDecimal, IsTheIntegerPartForWhatIsNotFinite) {
  EXPECT_EQ(first_wrong_decimal(not_a_number), 0);
  EXPECT_EQ(first_wrong_decimal(-std::numeric_limits<double>::infinity()), 0);
}

TEST(WrongDigits, CountEveryCoordinateOfEveryBody) {
  const std::vector<Vec4> reference{{1, 2, 3, 5}, {4, 5, 6, 5}};
  const std::vector<Vec4> positions{{1, 2.25f, 3, 7}, {2.5f, 5, 6.0001f, 7}};
  const WrongDigits digits = wrong_digits(positions, reference);
  EXPECT_EQ(digits.counts[0], 1);
  EXPECT_EQ(digits.counts[1], 1);
  EXPECT_EQ(digits.counts[4] + digits.counts[5], 1) << "6.0001 is no float: the difference is just beside 1e-4";
  EXPECT_EQ(digits.counts[WrongDigits::none], 3) << "masses do not count";
  EXPECT_EQ(digits.largest, 1.5);
  EXPECT_EQ(digits.not_finite, 0);
}

TEST(WrongDigits, AreAcceptedFromTheThirdDecimalOn) {
  const std::vector<Vec4> reference{{0, 0, 0, 0}};
  EXPECT_TRUE(wrong_digits(reference, reference).accepted());
  EXPECT_TRUE(wrong_digits(std::vector<Vec4>{{0.009f, 0, 0, 0}}, reference).accepted());
  EXPECT_FALSE(wrong_digits(std::vector<Vec4>{{0, 0.011f, 0, 0}}, reference).accepted());
  EXPECT_FALSE(wrong_digits(std::vector<Vec4>{{0, 0, -0.5f, 0}}, reference).accepted());
  EXPECT_FALSE(wrong_digits(std::vector<Vec4>{{0, 0, 0, 0}}, std::vector<Vec4>{{2, 0, 0, 0}}).accepted());
}

TEST(WrongDigits, AcceptNoNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Vec4> good{{1, 1, 1, 1}}, bad{{1, nan, 1, 1}};
  for (const auto& [positions, reference] : {std::pair{bad, good}, {good, bad}, {bad, bad}}) {
    const WrongDigits digits = wrong_digits(positions, reference);
    EXPECT_EQ(digits.counts[0], 1);
    EXPECT_EQ(digits.not_finite, 1);
    EXPECT_TRUE(std::isnan(digits.largest));
    EXPECT_FALSE(digits.accepted());
  }
}

}  // namespace
}  // namespace orrery
