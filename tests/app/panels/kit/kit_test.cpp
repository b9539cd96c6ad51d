#include "app/panels/kit/format.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

using Limits = std::numeric_limits<double>;

TEST(Format, RatesHaveThreeDigitsAndAPrefix) {
  EXPECT_EQ(format_rate(1.834e12, "/s"), "1.83 T/s");
  EXPECT_EQ(format_rate(268435456, "/s"), "268 M/s");
  EXPECT_EQ(format_rate(999.4, "/s"), "999 /s");
  EXPECT_EQ(format_rate(999.6, "/s"), "1.00 k/s");
  EXPECT_EQ(format_rate(9.996e9, "/s"), "10.0 G/s");
  EXPECT_EQ(format_rate(3e21, "/s"), "3000 E/s");
}

TEST(Format, FramesPerSecondAreCounted) {
  EXPECT_EQ(format_frames_per_s(16.6), "60 frames/s");
  EXPECT_EQ(format_frames_per_s(990), "1 frame/s");
  EXPECT_EQ(format_frames_per_s(0.1), "10,000 frames/s");
  EXPECT_EQ(format_frames_per_s(5000), "0.2 frames/s");
}

TEST(Format, UnknownNumbersAreADash) {
  for (const double value : {0.0, -1.0, Limits::quiet_NaN(), Limits::infinity()}) {
    EXPECT_EQ(format_rate(value, "/s"), unknown);
    EXPECT_EQ(format_speedup(value), unknown);
  }
  for (const double value : {-1.0, Limits::quiet_NaN(), Limits::infinity()}) EXPECT_EQ(format_ms(value), unknown);
}

TEST(Format, Milliseconds) {
  EXPECT_EQ(format_ms(0), "0.000 ms");
  EXPECT_EQ(format_ms(0.1534), "0.153 ms");
  EXPECT_EQ(format_ms(0.9996), "1.00 ms");
  EXPECT_EQ(format_ms(12.44), "12.4 ms");
  EXPECT_EQ(format_ms(812.4), "812 ms");
  EXPECT_EQ(format_ms(999.6), "1.00 s");
  EXPECT_EQ(format_ms(1e7), "10000 s");
}

TEST(Format, IntervalsTellTheirEndsApart) {
  EXPECT_EQ(format_interval_ms(0.3, 2.1), "0.300 \u2013 2.100 ms");
  EXPECT_EQ(format_interval_ms(1.2341, 1.2379), "1.2341 \u2013 1.2379 ms");
  EXPECT_EQ(format_interval_ms(250, 400), "250 \u2013 400 ms");
  EXPECT_EQ(format_interval_ms(0.00412, 0.00412), "0.00412 \u2013 0.00412 ms");
  EXPECT_EQ(format_interval_ms(2, 1), unknown);
  EXPECT_EQ(format_interval_ms(0, 1), unknown);
  EXPECT_EQ(format_interval_ms(Limits::quiet_NaN(), 1), unknown);
  EXPECT_EQ(format_interval_ms(1, Limits::infinity()), unknown);
}

TEST(Format, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(16384), "16,384");
  EXPECT_EQ(format_count(1048576), "1,048,576");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(-100), "-100");
}

TEST(Format, CountsWithTheirNouns) {
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(16384, "step"), "16,384 steps");
  EXPECT_EQ(counted(1, "batch", "batches"), "1 batch");
  EXPECT_EQ(counted(2, "batch", "batches"), "2 batches");
  EXPECT_EQ(counted_bodies(1), "1 body");
  EXPECT_EQ(counted_bodies(1024), "1,024 bodies");
}

TEST(Format, SpeedUps) {
  EXPECT_EQ(format_speedup(0.0118), "0.0118\u00d7");
  EXPECT_EQ(format_speedup(0.5), "0.500\u00d7");
  EXPECT_EQ(format_speedup(0.99996), "1.00\u00d7");
  EXPECT_EQ(format_speedup(1), "1.00\u00d7");
  EXPECT_EQ(format_speedup(37.23), "37.2\u00d7");
  EXPECT_EQ(format_speedup(1846.2), "1,846\u00d7");
}

TEST(Format, ErrorsHaveTwoDigits) {
  EXPECT_EQ(format_error(3.14e-7), "3.1e-7");
  EXPECT_EQ(format_error(1e-12), "1.0e-12");
  EXPECT_EQ(format_error(0.25), "2.5e-1");
  EXPECT_EQ(format_error(1), "1.0e+0");
  EXPECT_EQ(format_error(0), "0");
  EXPECT_EQ(format_error(Limits::quiet_NaN()), "NaN");
  EXPECT_EQ(format_error(Limits::infinity()), "NaN");
}

TEST(Format, Values) {
  EXPECT_EQ(format_value(0), "0");
  EXPECT_EQ(format_value(0.0123), "0.0123");
  EXPECT_EQ(format_value(12.345), "12.3");
  EXPECT_EQ(format_value(999), "999");
  EXPECT_EQ(format_value(16384), "1.6e+4");
  EXPECT_EQ(format_value(3.14e-7), "3.1e-7");
  EXPECT_EQ(format_value(2e12), "2.0e+12");
}

TEST(Format, Shares) {
  EXPECT_EQ(format_percent(0.00021), "0.02 %");
  EXPECT_EQ(format_percent(0.0314), "3.1 %");
  EXPECT_EQ(format_percent(0.373), "37 %");
  EXPECT_EQ(format_percent(1.2), "120 %");
  EXPECT_EQ(format_percent(Limits::quiet_NaN()), unknown);
  EXPECT_EQ(format_percent(-0.1), unknown);
}

}  // namespace
}  // namespace orrery::test
