#include "app/text/printable.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Printable, EscapesWhatWouldSteerATerminal) {
  EXPECT_EQ(printable("a\033[31mb\a\x7f"), "a\\x1b[31mb\\x07\\x7f");
  EXPECT_EQ(printable("one\r\ntwo\tthree"), "one  two three");
  EXPECT_EQ(printable(std::string_view{"a\0b", 3}), "a\\x00b");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m") << "a control character of one code";
  EXPECT_EQ(printable("\u202e"), "\\xe2\\x80\\xae") << "text from right to left";
}

TEST(Printable, KeepsTextOfAnyLanguage) {
  EXPECT_EQ(printable("Universität 銀河 \U0001F30C"), "Universität 銀河 \U0001F30C");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3") << "no UTF-8";
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ShortensWhatIsTooLong) {
  const std::string word = printable("unknown scene '" + std::string(10'000'000, 'x') + "'; known scenes: disc");
  EXPECT_LT(word.size(), 200u) << word;
  EXPECT_NE(word.find("unknown scene 'xxx"), std::string::npos) << word;
  EXPECT_NE(word.find("known scenes: disc"), std::string::npos) << word;
  std::string words = "begin";
  for (int i = 0; i < 100'000; ++i) words += " word";
  words += " end";
  const std::string text = printable(words);
  EXPECT_LT(text.size(), 5000u);
  EXPECT_TRUE(text.starts_with("begin word"));
  EXPECT_NE(text.find("word end"), std::string::npos);
}

}  // namespace
}  // namespace orrery
