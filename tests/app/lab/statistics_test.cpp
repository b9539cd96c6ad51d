#include "app/lab/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "app/text/console.h"
#include "app/text/table.h"

namespace orrery {
namespace {

std::vector<double> up_to(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(SampleSummary, FindsMedianAndMinimum) {
  EXPECT_EQ(summarize({3, 1, 2}).median, 2);
  EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summarize({3, 1, 2}).min, 1);
  EXPECT_TRUE(std::isnan(summarize({}).median));
}

// The ranks that tables of the sign test give for 95%.
TEST(SampleSummary, EnclosesTheMedianByOrderStatistics) {
  struct Known {
    int count, low, high;
  };
  for (const auto& [count, low, high] :
       {Known{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {30, 10, 21}, {100, 40, 61}}) {
    const Summary summary = summarize(up_to(count));
    EXPECT_EQ(summary.low, low) << count;
    EXPECT_EQ(summary.high, high) << count;
  }
  EXPECT_TRUE(std::isnan(summarize(up_to(5)).low)) << "five values enclose the median with 93.75% only";
  EXPECT_TRUE(std::isnan(summarize(up_to(1)).high));
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(with_prefix(1.834e12), "1.83 T");
  EXPECT_EQ(with_prefix(999.6), "1 k");
  EXPECT_EQ(with_prefix(12), "12");
  EXPECT_EQ(with_prefix(std::nan("")), "-");
  EXPECT_EQ(significant(0.12345678), "0.1235");
  EXPECT_EQ(significant(INFINITY), "-");
  EXPECT_EQ(significant(6.12e-8, 2), "6.1e-8");
  EXPECT_EQ(significant(6.12e-12, 2), "6.1e-12");
  EXPECT_EQ(scientific(6.1e-8, 3), "6.10e-8");
  EXPECT_EQ(scientific(-1e-100, 2), "-1.0e-100");
  EXPECT_EQ(scientific(INFINITY, 2), "-");
  EXPECT_EQ(short_exponent("6.12e-08"), "6.12e-8");
  EXPECT_EQ(short_exponent("nan"), "nan") << "worth seeing";
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(185), "3 min 5 s");
  EXPECT_EQ(duration_text(7800), "2 h 10 min");
}

TEST(Statistics, TheMedianIsTheMiddleOne) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace orrery
