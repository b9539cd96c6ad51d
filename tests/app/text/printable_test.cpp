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

TEST(Printable, EscapesEveryCharacterThatSteersATerminal) {
  const auto utf8 = [](unsigned code) {
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    if (code < 0x800) return std::string{static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    return std::string{static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
                       static_cast<char>(0x80 | (code & 63))};
  };
  for (unsigned code = 0; code < 0x3000; ++code) {
    const bool steers = code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
                        (code >= 0x2066 && code <= 0x2069);
    const std::string text = utf8(code);
    for (const std::string& shown : {printable(text), printable_line(text), printable_lines(text)}) {
      if (code == '\n' && shown == "\n") continue;  // of lines
      EXPECT_EQ(shown == text, !steers) << code;
      EXPECT_EQ(control_size(shown), 0u) << code;
    }
  }
}

TEST(Printable, ShowsStylesOfThisProgramAlone) {
  const std::string text = "a\033[31mb\n" + styled("c\033[0md", 31) + "\r\n";
  EXPECT_EQ(printable_lines(text), "a\\x1b[31mb\n\033[31mc\\x1b[0md\033[0m \n");
  EXPECT_EQ(printable_line(styled("c", 1)).find('\033'), std::string::npos) << "a name cannot have one";
}

TEST(Printable, IsTextRefusesACarriageReturnWithinALine) {
  EXPECT_TRUE(is_text("a\tb\r"));
  EXPECT_FALSE(is_text("a\rb"));
  EXPECT_FALSE(is_text("a\u202eb"));
}

TEST(Printable, HasTheSizeOfAWordBesideNoPunctuation) {
  const std::string name(303, 'x');
  EXPECT_EQ(printable("'" + name + "'; a name"),
            "'" + std::string(59, 'x') + "...(306 bytes)..." + std::string(18, 'x') + "'; a name");
  std::string accents = "a";
  for (int i = 0; i < 200; ++i) accents += "\u00e9";
  EXPECT_EQ(printable(accents).find("\\x"), std::string::npos) << "characters stay whole: " << printable(accents);
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
