#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "app/text/console.h"

namespace orrery {
namespace {

/// The first line of a new Progress, without a terminal.
std::string first_line(std::optional<double> left_s, std::optional<double> done) {
  testing::internal::CaptureStderr();
  Progress{true}.show_left(left_s, "step 76 of 891", done);
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, ShowsThePartOfTheStepsBesideThem) {
  const std::string line = first_line(1e6, part_of(76, 891));
  EXPECT_EQ(line.find("  8% step 76 of 891, about "), 0u) << line;
}

TEST(Progress, ShowsThePartOfTheTimeIfNothingIsCounted) {
  const std::string line = first_line(1e9, std::nullopt);
  EXPECT_EQ(line.find("  0% step 76 of 891, about "), 0u) << line;
}

TEST(Progress, OfNothingIsNone) {
  EXPECT_EQ(part_of(0, 0), 0);
  EXPECT_EQ(part_of(891, 891), 1);
}

}  // namespace
}  // namespace orrery
