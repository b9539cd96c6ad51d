#include "compute/core/text.h"
#include "tests/test.h"

namespace orrery {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parsed_number<int>("42"), 42);
  EXPECT_EQ(parsed_number<int>("-7"), -7);
  EXPECT_EQ(parsed_number<float>("2.5"), 2.5f);
  for (const char* text : {"", " 42", "42 ", "42x", "x", "2147483648", "+1"}) {
    EXPECT_FALSE(parsed_number<int>(text)) << text;
  }
}

TEST(ParseNumber, CountsHaveUnits) {
  EXPECT_EQ(parsed_count("16384"), 16384);
  EXPECT_EQ(parsed_count("16k"), 16384);
  EXPECT_EQ(parsed_count("16K"), 16384);
  EXPECT_EQ(parsed_count("2M"), 2 << 20);
  EXPECT_EQ(parsed_count("2m"), 2 << 20);
  EXPECT_EQ(parsed_count("1G"), 1 << 30);
  EXPECT_EQ(parsed_count("1g"), 1 << 30);
  EXPECT_EQ(parsed_count("2147483647"), 2147483647);
  EXPECT_EQ(parsed_count("2047M"), std::int64_t{2047} << 20);
  EXPECT_EQ(parsed_count("-1k"), -1024) << "a number, which the caller refuses";
  for (const char* text :
       {"", "k", "1.5k", "16 k", "16G", "2147483648", "2048M", "9007199254740993k", "-9007199254740993k"}) {
    EXPECT_FALSE(parsed_count(text)) << text;
  }
}

}  // namespace
}  // namespace orrery
