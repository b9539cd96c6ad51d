#include "app/lab/forecast.h"

#include <gtest/gtest.h>

#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

TEST(Forecast, GrowsWithThePairsAtTheRateOfTheKernelOrItsPeers) {
  Forecast forecast;
  const KernelInfo &simd = *test::find_kernel("cpu-simd"), &serial = *test::find_kernel("cpu-serial");
  forecast.learn(simd, 1000, 0.5);
  EXPECT_DOUBLE_EQ(forecast.seconds(simd, 1000), 0.5);
  EXPECT_DOUBLE_EQ(forecast.seconds(simd, 4000), 8);
  EXPECT_DOUBLE_EQ(forecast.seconds(serial, 1000), 0.5) << "the only one known of the CPU";
  forecast.learn(serial, 1000, 2);
  EXPECT_DOUBLE_EQ(forecast.seconds(serial, 2000), 8);
}

TEST(Forecast, LearnsNothingFromFewPairs) {
  Forecast forecast;
  const KernelInfo& simd = *test::find_kernel("cpu-simd");
  const double guess = forecast.seconds(simd, 100'000);
  forecast.learn(simd, 1, 1e-3);  // a launch, not a pair
  EXPECT_EQ(forecast.seconds(simd, 100'000), guess);
}

TEST(Forecast, CountsTheReferenceToo) {
  Forecast forecast;
  forecast.learn_reference(1000, 1);
  EXPECT_DOUBLE_EQ(forecast.reference_seconds(2000), 4);
  EXPECT_DOUBLE_EQ(forecast.reference_seconds(100'000), 409.6) << "all pairs of a sample of 4096";

  Forecast every_body{1'000'000};
  every_body.learn_reference(1000, 1);
  EXPECT_DOUBLE_EQ(every_body.reference_seconds(100'000), 10'000);
}

}  // namespace
}  // namespace orrery
