#include "app/text/markdown.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery {
namespace {

/// "<strong>", "{code}" and plain text.
std::string marked(const std::string& line) {
  std::string text;
  for (const TextSpan& span : spans_of(line)) {
    switch (span.style) {
      case TextSpan::Style::strong:
        text += '<' + span.text + '>';
        break;
      case TextSpan::Style::code:
        text += '{' + span.text + '}';
        break;
      case TextSpan::Style::plain:
        text += span.text;
    }
  }
  return text;
}

TEST(Markdown, KnowsHowWordsAreWritten) {
  EXPECT_EQ(marked("**A** and *two words*, `code *x*`, [a link](b.md)."), "<A> and <two words>, {code *x*}, a link.");
  EXPECT_EQ(plain_text("tick *Walk* in `a`"), "tick Walk in `a`");
}

TEST(Markdown, LeavesTheStarsOfArithmetic) {
  for (const char* line : {"2 * 3 * 4", "a *b", "a * b*", "**", "* *"}) EXPECT_EQ(marked(line), line);
}

}  // namespace
}  // namespace orrery
