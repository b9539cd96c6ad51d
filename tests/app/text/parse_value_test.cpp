#include "app/text/parse_value.h"

#include <limits>

#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

TEST(ParseCount, TakesPlainNumbersAndBinaryUnits) {
  EXPECT_EQ(parse_count("-n", "1", body_counts), 1);
  EXPECT_EQ(parse_count("-n", "16384", body_counts), 16384);
  EXPECT_EQ(parse_count("-n", "16k", body_counts), 16384);
  EXPECT_EQ(parse_count("-n", "16K", body_counts), 16384);
  EXPECT_EQ(parse_count("-n", "1M", body_counts), 1048576);
  EXPECT_EQ(parse_count("-n", "2147483647", body_counts), 2147483647);
  EXPECT_EQ(parse_counts("-n", "1k,4k,5"), (std::vector{1024, 4096, 5}));
}

TEST(ParseCount, RefusesWhatIsNoNumberOfBodies) {
  for (const char* text : {"0", "-1", "", "abc", "1.5", "k", "0k", "16kk", "16 k", " 16", "1e4", "2147483648", "2048M",
                           "99999999999999999999", "0x10", "+5", "NaN"}) {
    expect_failure(
        Failure::usage, [&] { parse_count("-n", text, body_counts); }, "-n", std::string{"'"}.append(text).append("'"),
        "16384");
  }
  expect_failure(
      Failure::usage,
      [&] {
        parse_count("-n", "9k", {1, 8192, "bodies"});
      },
      "'9k'", "from 1 to 8192 bodies");
  for (const char* text : {"", ",", "1k,", ",1k", "1k,,2k"}) {
    expect_failure(
        Failure::usage, [&] { parse_counts("-n", text); }, "-n", "commas");
  }
}

TEST(ParseSample, TakesAllOrANumber) {
  EXPECT_EQ(parse_sample("--sample", "all"), 2147483647);
  EXPECT_EQ(parse_sample("--sample", "4k"), 4096);
  for (const char* text : {"0", "-1", "", "ALL", "most", "1.5"}) {
    expect_failure(
        Failure::usage, [&] { parse_sample("--sample", text); }, "--sample", std::string{"'"}.append(text).append("'"),
        "all");
  }
}

TEST(ParseValue, RefusesWhatIsNotFiniteOrOutOfRange) {
  constexpr Range<float> above_0{0, std::numeric_limits<float>::infinity(), "", true}, up_to_9{0, 9};
  EXPECT_EQ(parse_in("--dt", "0.01", above_0), 0.01f);
  EXPECT_EQ(parse_in("--dt", "1e-3", above_0), 1e-3f);
  EXPECT_EQ(parse_in("--drag", "0", up_to_9), 0.0f);
  EXPECT_EQ(parse_in("--drag", "9", up_to_9), 9.0f);
  for (const char* text : {"0", "-0", "-1", "nan", "-nan", "inf", "", "x", "1,5", "1e99", "0.01s"}) {
    expect_failure(
        Failure::usage, [&] { parse_in("--dt", text, above_0); }, "--dt", "above 0");
  }
  for (const char* text : {"-1", "9.1", "nan", "inf", ""}) {
    expect_failure(
        Failure::usage, [&] { parse_in("--drag", text, up_to_9); }, "--drag", "from 0 to 9");
  }
  EXPECT_EQ(parse_integer("--frames", "300", 1, 1000), 300);
  expect_failure(
      Failure::usage, [] { parse_integer("--frames", "0", 1, 1000); }, "--frames", "from 1 to 1000");
}

TEST(ParseSize, TakesWidthTimesHeight) {
  EXPECT_EQ(parse_size("--size", "640x480"), (std::pair{640, 480}));
  for (const char* text :
       {"", "640", "640x", "x480", "640x480x3", "640*480", "0x480", "640x-1", "99999x480", "640X480"}) {
    expect_failure(
        Failure::usage, [&] { parse_size("--size", text); }, "--size", "1280x720");
  }
}

TEST(ParseSwitch, TakesOnAndOff) {
  EXPECT_TRUE(parse_switch("--panel", "on"));
  EXPECT_FALSE(parse_switch("--panel", "off"));
  expect_failure(
      Failure::usage, [] { parse_switch("--panel", "yes"); }, "--panel", "on or off");
}

}  // namespace
}  // namespace orrery
