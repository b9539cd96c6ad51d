#include <gtest/gtest.h>

#include <cmath>

#include "compute/scenes/portable.h"

namespace orrery {
namespace {

TEST(PortableMath, AgreesWithTheCLibrary) {
  for (double x = -690; x < 690; x += 0.37) {
    EXPECT_NEAR(portable::exp(x) / std::exp(x), 1, 3e-13) << x;  // the error of x - k ln 2 grows with x
  }
  for (double x = 1e-300; x < 1e300; x *= 1.7) EXPECT_NEAR(portable::log(x), std::log(x), 2e-13) << x;
  for (double x = 0.4; x < 2.5; x += 0.001) EXPECT_NEAR(portable::log(x), std::log(x), 4e-16) << x;
  EXPECT_NEAR(portable::pow(0.3, -2.0 / 3), std::pow(0.3, -2.0 / 3), 1e-14);
}

TEST(RandomTest, HasTheMomentsOfItsDistributions) {
  Random random{42};
  constexpr int draws = 200000;
  double uniform_sum = 0, gaussian_sum = 0, gaussian_sq_sum = 0, gaussian_4th_sum = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = random.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    const double g = random.gaussian();
    uniform_sum += u;
    gaussian_sum += g;
    gaussian_sq_sum += g * g;
    gaussian_4th_sum += g * g * g * g;
  }
  EXPECT_NEAR(uniform_sum / draws, 0.5, 0.003);
  EXPECT_NEAR(gaussian_sum / draws, 0, 0.01);
  EXPECT_NEAR(gaussian_sq_sum / draws, 1, 0.015);
  EXPECT_NEAR(gaussian_4th_sum / draws, 3, 0.12);
}

}  // namespace
}  // namespace orrery
