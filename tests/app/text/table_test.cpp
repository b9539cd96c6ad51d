// Tables and paragraphs: that they fit, and that nothing is lost where they do.
#include "app/text/table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "app/lab/variants.h"
#include "app/text/printable.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

constexpr TextStyle unlimited{.columns = TextStyle::unlimited};

void expect_fits(const std::string& text, std::size_t columns) {
  for (const std::string& line : test::lines(text)) EXPECT_LE(columns_of(line), columns) << line;
}

/// All characters but blanks and line ends.
std::string letters(const std::string& text) {
  std::string rest;
  for (const char c : text) {
    if (c != ' ' && c != '\n') rest += c;
  }
  return rest;
}

TEST(Table, AlignsColumns) {
  Table table{"lr", {"name", "ms"}};
  table.add({"a", "12.5"});
  EXPECT_EQ(table.text(), "name    ms\na     12.5\n");
}

TEST(Table, BreaksTextAndLosesNone) {
  Table table{"lt", {"kernel", "result"}};
  table.add({"cpu-simd", "skipped: this machine has too little memory for so many bodies"});
  const std::string narrow = table.text({.columns = 30});
  expect_fits(narrow, 30);
  EXPECT_GT(test::lines(narrow).size(), 2u);
  EXPECT_EQ(letters(narrow), letters(table.text(unlimited)));
}

TEST(Table, BreaksAWordOfAnyLength) {
  Table table{"lt", {"kernel", "result"}};
  table.add({"a", std::string(300, 'x')});
  expect_fits(table.text(), TextStyle::usual_columns);
  EXPECT_EQ(letters(table.text()), letters(table.text(unlimited)));
}

TEST(Table, LeavesOutColumnsAndNamesThem) {
  Table table{"lrr", {"kernel", "min ms", "median ms"}, {"min ms"}};
  table.add({std::string(20, 'k'), std::string(10, '1'), std::string(10, '2')});
  const std::string narrow = table.text({.columns = 40});
  const std::vector<std::string> lines = test::lines(narrow);
  expect_fits(lines[0] + '\n' + lines[1], 40);
  EXPECT_EQ(narrow.find("1111"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("2222"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("min ms"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("--wide"), std::string::npos) << narrow;
  EXPECT_NE(table.text(unlimited).find("1111"), std::string::npos);
}

TEST(Table, LeavesOutAnEmptyColumnWithoutAWord) {
  Table table{"llr", {"kernel", "settings", "median ms"}};
  table.add({std::string(20, 'k'), "", std::string(10, '2')});
  const std::string narrow = table.text({.columns = 36});
  EXPECT_EQ(narrow.find("settings"), std::string::npos) << narrow;
  expect_fits(narrow, 36);
}

TEST(Table, IsWrittenInMarkdown) {
  Table table{"lr", {"name", "ms"}};
  table.add({"a|b", "12.5"});
  EXPECT_EQ(table.text({.columns = TextStyle::unlimited, .markdown = true}),
            "| name | ms |\n| --- | ---: |\n| a\\|b | 12.5 |\n\n");
}

TEST(Table, IsColouredWhereAskedForAndKeepsItsColumns) {
  Table table{"lt", {"kernel", "result"}};
  table.add({"a", Cell{std::string_view{"PASS"}, Tone::good}});
  table.add({"b", Cell{std::string_view{"FAIL"}, Tone::bad}});
  std::string coloured = printable_lines(table.text({.colour = true}));
  EXPECT_NE(coloured.find("\033["), std::string::npos);
  for (std::size_t at; (at = coloured.find('\033')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
  }
  EXPECT_EQ(coloured, table.text());
}

TEST(TextStyle, CountsCharactersAndNotBytes) {
  EXPECT_EQ(columns_of("\u00b5s \u2013"), 4u);
  EXPECT_EQ(cut_to("\u00b5s \u2013", 2), "\u00b5s");
  EXPECT_EQ(cut_to("ab", 5), "ab");
}

TEST(TextStyle, IndentsAParagraph) {
  EXPECT_EQ(paragraph("CPU  one two three", {.columns = 12}, 5), "CPU  one two\n     three\n");
  EXPECT_EQ(paragraph("", {}), "\n");
  EXPECT_EQ(wrapped("  one two three", 9), (std::vector<std::string>{"  one two", "  three"}));
}

TEST(TextStyle, TakesTheColumnsThatTheEnvironmentNames) {
  const char* const before = std::getenv("COLUMNS");
  const std::string kept = before ? before : "";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  setenv("COLUMNS", "120", 1);
  EXPECT_EQ(terminal_columns(ends[1]), 120u);
  for (const char* none : {"", "wide", "0", "-3", "120x"}) {
    setenv("COLUMNS", none, 1);
    EXPECT_EQ(terminal_columns(ends[1]), TextStyle::usual_columns) << none;
  }
  unsetenv("COLUMNS");
  EXPECT_EQ(terminal_columns(ends[1]), TextStyle::usual_columns) << "a pipe";
  if (before) setenv("COLUMNS", kept.c_str(), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(SettingsCells, ShowWhatIsNotInitialAndWhatDiffers) {
  Settings initial{*test::find_kernel("cpu-simd")}, other = initial;
  other.set("threads", "1");
  const auto text = [](const SettingsCells& cells, const Settings& settings) {
    return cells.text("cpu-simd", settings.values());
  };
  SettingsCells alone{TextStyle{}}, both{TextStyle{}}, wide{unlimited};
  const KernelPtr kernel = test::find_kernel("cpu-simd");
  alone.add("cpu-simd", initial.values(), kernel.get());
  EXPECT_EQ(text(alone, initial), "");
  EXPECT_EQ(text(alone, other), "threads=1");
  for (const Settings* settings : {&initial, &other}) both.add("cpu-simd", settings->values(), kernel.get());
  EXPECT_EQ(text(both, initial), "threads=auto");
  EXPECT_EQ(text(both, other), "threads=1");
  EXPECT_EQ(text(wide, initial), initial.to_string());
  EXPECT_EQ(alone.text("of-another-build", {{"block", "256"}}), "block=256");
}

}  // namespace
}  // namespace orrery
