#include <gtest/gtest.h>

#include <string>

#include "app/commands/command_text.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

TEST(Words, TakeNamesAndQuotes) {
  std::string_view rest = "plain size=1e-3 file=\"a \\\"b\\\" # c.png\" last=";
  Word word = take_argument(rest);
  EXPECT_EQ(word.name, "");
  EXPECT_EQ(word.text, "plain");
  word = take_argument(rest);
  EXPECT_EQ(word.name, "size");
  EXPECT_EQ(word.text, "1e-3");
  word = take_argument(rest);
  EXPECT_EQ(word.name, "file");
  EXPECT_EQ(word.text, "a \"b\" # c.png");
  word = take_argument(rest);
  EXPECT_EQ(word.name, "last");
  EXPECT_EQ(word.text, "");
  EXPECT_EQ(rest, "");
}

TEST(Words, OnlyALowerCaseWordIsAName) {
  for (const std::string text : {"A=1", "a1=1", "=1", "./a=1"}) {
    std::string_view rest = text;
    const Word word = take_argument(rest);
    EXPECT_EQ(word.name, "") << text;
    EXPECT_EQ(word.text, text);
  }
}

TEST(Words, RefuseQuotesThatDoNotEnd) {
  for (std::string_view text : {"\"", "\"a", "\"a\\\"", "name=\"a b", "\"a\"b", "\"\\q\""}) {
    EXPECT_THROW((void)take_argument(text), UsageError) << text;
  }
}

TEST(Words, ReadBackWhatIsWritten) {
  for (const std::string text :
       {"a", "", " ", "a b", "\"", "\\", "#", "a #b", "name=a", "a\tb", "a\nb", "\xc3\xbc", "'"}) {
    for (const char* name : {"", "file"}) {
      const std::string word = argument_word(name, text);
      std::string_view rest = word;
      const Word read = take_argument(rest);
      EXPECT_EQ(read.name, name) << word;
      EXPECT_EQ(read.text, text) << word;
      EXPECT_EQ(rest, "") << word;
      EXPECT_EQ(without_comment(word + " # comment"), word + ' ');
    }
  }
}

TEST(Words, AQuoteWithinAWordIsNone) {
  EXPECT_EQ(without_comment("record 5\".csv # a\""), "record 5\".csv ");
  EXPECT_EQ(without_comment("record \"5.csv # a"), "record \"5.csv ");
}

}  // namespace
}  // namespace orrery
