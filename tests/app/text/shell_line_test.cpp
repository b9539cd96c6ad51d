// Command lines that Bash reads as the same words.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "app/text/printable.h"

namespace orrery {
namespace {

TEST(ShellLine, BashReadsTheSameWords) {
  const std::vector<std::string> words{"--out",
                                       "a b.html",
                                       "it's",
                                       "",
                                       "$HOME `ls` \\",
                                       "line\nend\x01 it's",
                                       "\xff\xc3\xa9"
                                       "a",
                                       "-n",
                                       "4k,16k",
                                       "theta=0.5"};
  const std::string line = shell_line(words);
  for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  std::string expected, read;
  for (const std::string& word : words) expected += word + '|';
  const std::string ask = "bash -c \"$(cat <<'END'\nprintf '%s|' " + line + "\nEND\n)\"";
  FILE* const pipe = popen(ask.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) read += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(read, expected) << line;
  EXPECT_EQ(shell_line({"orrery", "report", "-n", "4k"}), "orrery report -n 4k");
}

}  // namespace
}  // namespace orrery
