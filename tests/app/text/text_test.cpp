#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "app/lab/variants.h"
#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "app/text/markdown.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "app/text/table.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

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
    expect_usage_error({"-n", "'" + std::string{text} + "'", "16384"}, [&] { parse_count("-n", text, body_counts); });
  }
  expect_usage_error({"'9k'", "from 1 to 8192 bodies"}, [&] { parse_count("-n", "9k", {1, 8192, "bodies"}); });
  for (const char* text : {"", ",", "1k,", ",1k", "1k,,2k"}) {
    expect_usage_error({"-n", "commas"}, [&] { parse_counts("-n", text); });
  }
}

TEST(ParseSample, TakesAllOrANumber) {
  EXPECT_EQ(parse_sample("--sample", "all"), 2147483647);
  EXPECT_EQ(parse_sample("--sample", "4k"), 4096);
  for (const char* text : {"0", "-1", "", "ALL", "most", "1.5"}) {
    expect_usage_error({"--sample", "'" + std::string{text} + "'", "all"}, [&] { parse_sample("--sample", text); });
  }
}

TEST(ParseValue, RefusesWhatIsNotFiniteOrOutOfRange) {
  constexpr Range<float> above_0{0, std::numeric_limits<float>::infinity(), "", true}, up_to_9{0, 9};
  EXPECT_EQ(parse_in("--dt", "0.01", above_0), 0.01f);
  EXPECT_EQ(parse_in("--dt", "1e-3", above_0), 1e-3f);
  EXPECT_EQ(parse_in("--drag", "0", up_to_9), 0.0f);
  EXPECT_EQ(parse_in("--drag", "9", up_to_9), 9.0f);
  for (const char* text : {"0", "-0", "-1", "nan", "-nan", "inf", "", "x", "1,5", "1e99", "0.01s"}) {
    expect_usage_error({"--dt", "above 0"}, [&] { parse_in("--dt", text, above_0); });
  }
  for (const char* text : {"-1", "9.1", "nan", "inf", ""}) {
    expect_usage_error({"--drag", "from 0 to 9"}, [&] { parse_in("--drag", text, up_to_9); });
  }
  EXPECT_EQ(parse_integer("--frames", "300", 1, 1000), 300);
  expect_usage_error({"--frames", "from 1 to 1000"}, [] { parse_integer("--frames", "0", 1, 1000); });
}

TEST(ParseSize, TakesWidthTimesHeight) {
  EXPECT_EQ(parse_size("--size", "640x480"), (std::pair{640, 480}));
  for (const char* text :
       {"", "640", "640x", "x480", "640x480x3", "640*480", "0x480", "640x-1", "99999x480", "640X480"}) {
    expect_usage_error({"--size", "1280x720"}, [&] { parse_size("--size", text); });
  }
}

TEST(ParseSwitch, TakesOnAndOff) {
  EXPECT_TRUE(parse_switch("--panel", "on"));
  EXPECT_FALSE(parse_switch("--panel", "off"));
  expect_usage_error({"--panel", "on or off"}, [] { parse_switch("--panel", "yes"); });
}

struct InputFile : testing::Test {
  Json json(const std::string& text) const {
    std::ofstream{file} << text;
    return read_json(file);
  }
  void expect_refused(const std::string& text, const char* cause) const {
    expect_runtime_error({"'" + file + "'", cause}, [&] { (void)json(text); });
  }

  const TemporaryFolder folder;
  const std::string file = (folder / "input").string();
};

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST_F(InputFile, LeavesOutTheByteOrderMark) {
  EXPECT_EQ(json("\xEF\xBB\xBF[1]"), Json::parse("[1]"));
  EXPECT_EQ(read_text(file), "[1]") << "as lessons, scripts, camera paths and replays are read";
}

TEST_F(InputFile, ReadsWholeFiles) {
  for (const std::size_t size : {0u, 1u, 4096u, 100'000u}) {
    const std::string text(size, 'a');
    std::ofstream{file} << text;
    EXPECT_EQ(read_text(file), text);
  }
  EXPECT_FALSE(read_text("/proc/self/status").empty()) << "its size is said to be 0";
}

TEST_F(InputFile, RefusesAtOnceWhatIsNoRegularFile) {
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string{"/dev/null"}, std::string{"/dev/zero"}}) {
    expect_runtime_error({path, "not a regular file"}, [&] { (void)read_text(path); });
  }
  expect_runtime_error({folder.path().string(), "folder"}, [&] { (void)read_text(folder.path().string()); });
  expect_runtime_error({file, "No such file"}, [&] { (void)read_text(file); });
}

TEST_F(InputFile, DoesNotTakeAnErrorForTheEnd) {
  // Its first page is never mapped.
  expect_runtime_error({"/proc/self/mem", "Input/output error"}, [] { (void)read_text("/proc/self/mem"); });
}

TEST_F(InputFile, RefusesLargeFiles) {
  std::ofstream{file} << ' ';
  std::filesystem::resize_file(file, 64'000'000);
  EXPECT_EQ(read_text(file).size(), 64'000'000u);
  std::filesystem::resize_file(file, 64'000'001);
  expect_runtime_error({file, "64 MB"}, [&] { (void)read_text(file); });
}

TEST_F(InputFile, BoundsTheDepthOfJson) {
  EXPECT_EQ(json(repeated("[", 64) + repeated("]", 64)).size(), 1u);
  expect_refused(repeated("[", 65) + repeated("]", 65), "64 levels");
  expect_refused(repeated("[", 1'000'000), "64 levels");
  expect_refused(repeated("{\"a\":", 1'000'000), "64 levels");
}

TEST_F(InputFile, BoundsTheNumberOfValues) {
  EXPECT_EQ(json("[0" + repeated(",0", 999'998) + "]").size(), 999'999u);
  expect_refused("[0" + repeated(",0", 999'999) + "]", "1000000 values");
  expect_refused("[0" + repeated(",0", 20'000'000) + "]", "1000000 values");
}

TEST_F(InputFile, BoundsTheMembersOfAnObject) {
  const auto object = [](int members) {
    std::string text;
    for (int i = 0; i < members; ++i) text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(json(object(1000)).size(), 1000u);
  EXPECT_EQ(json("[" + object(1000) + "," + object(1000) + "]").size(), 2u);
  expect_refused(object(1001), "1000 members");
}

TEST_F(InputFile, BoundsTheLengthOfTexts) {
  EXPECT_EQ(json("[\"" + std::string(65'536, 'a') + "\"]")[0].get<std::string>().size(), 65'536u);
  expect_refused("[\"" + std::string(65'537, 'a') + "\"]", "65536 bytes");
  expect_refused("{\"" + std::string(65'537, 'a') + "\": 1}", "65536 bytes");
}

TEST_F(InputFile, RefusesTextsThatANameWouldCut) {
  expect_refused(R"(["cpu\u0000simd"])", "the character 0");
  expect_refused(R"({"a\u0000b": 1})", "the character 0");
}

TEST_F(InputFile, NamesTheLineThatIsNotJson) {
  expect_refused("", "not JSON, see line 1");
  expect_refused("{\n\"a\": 1,\n\"b\": x\n}", "not JSON, see line 3");
  expect_refused("[1] [2]", "not JSON, see line 1");
  expect_refused("[1e999]", "not JSON, see line 1");
  expect_refused("\"\xff\"", "not JSON, see line 1");
}

TEST(JsonCount, TakesNumbersOfBodiesOnly) {
  for (const char* text : {"1", "16384", "2147483647"}) EXPECT_EQ(json_count(Json::parse(text)), std::stoi(text));
  EXPECT_EQ(json_count(Json(7)), 7);
  for (const char* text : {"0", "-1", "2147483648", "18446744073709551615", "-9223372036854775808", "1.0", "1e300",
                           "-1e300", "null", "true", "\"1\"", "[1]", "{}"}) {
    EXPECT_FALSE(json_count(Json::parse(text))) << text;
  }
}

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

TEST(NameText, KeepsEveryByteOfAName) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& name : {all, std::string{"Z\xfcrich"}, std::string{"Z\xc3\xbcrich"}, std::string{"\xe2\x82"},
                                  std::string{"\xef\x9e\x80 \xef\x9f\xbf"}, std::string{"\xed\xa0\x80"}}) {
    const std::string text = text_of_name(name);
    EXPECT_EQ(name_of_text(text), name);
    EXPECT_NO_THROW((void)Json(text).dump()) << "it is UTF-8";
  }
  EXPECT_EQ(text_of_name("Z\xc3\xbcrich/a b"), "Z\xc3\xbcrich/a b") << "plain names stay";
}

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
  expect_holds(word, {"unknown scene 'xxx", "known scenes: disc"});
  std::string words = "begin";
  for (int i = 0; i < 100'000; ++i) words += " word";
  words += " end";
  const std::string text = printable(words);
  EXPECT_LT(text.size(), 5000u);
  EXPECT_TRUE(text.starts_with("begin word"));
  expect_holds(text, {"word end"});
}

// Command lines that Bash reads as the same words.

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
  EXPECT_EQ(shell_line("orrery report -n 4k"_words), "orrery report -n 4k");
}

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

// Tables and paragraphs: that they fit, and that nothing is lost where they do.

constexpr TextStyle unlimited{.columns = TextStyle::unlimited};

void expect_fits(const std::string& text, std::size_t columns) {
  for (const std::string& line : lines(text)) EXPECT_LE(columns_of(line), columns) << line;
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
  EXPECT_GT(lines(narrow).size(), 2u);
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
  expect_lacks(narrow, {"1111"});
  expect_holds(narrow, {"2222", "min ms", "--wide"});
  expect_holds(table.text(unlimited), {"1111"});
}

TEST(Table, LeavesOutAnEmptyColumnWithoutAWord) {
  Table table{"llr", {"kernel", "settings", "median ms"}};
  table.add({std::string(20, 'k'), "", std::string(10, '2')});
  const std::string narrow = table.text({.columns = 36});
  expect_lacks(narrow, {"settings"});
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
  expect_holds(coloured, {"\033["});
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
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto columns = [&](const char* variable) {
    const Variable named{"COLUMNS", variable};
    return terminal_columns(ends[1]);
  };
  EXPECT_EQ(columns("120"), 120u);
  for (const char* none : {"", "wide", "0", "-3", "120x"}) EXPECT_EQ(columns(none), TextStyle::usual_columns) << none;
  EXPECT_EQ(columns(nullptr), TextStyle::usual_columns) << "a pipe";
  close(ends[0]);
  close(ends[1]);
}

TEST(SettingsCells, ShowWhatIsNotInitialAndWhatDiffers) {
  Settings initial{*find_kernel("cpu-simd")}, other = initial;
  other.set("threads", "1");
  const auto text = [](const SettingsCells& cells, const Settings& settings) {
    return cells.text("cpu-simd", settings.values());
  };
  SettingsCells alone{TextStyle{}}, both{TextStyle{}}, wide{unlimited};
  const KernelPtr kernel = find_kernel("cpu-simd");
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
}  // namespace orrery::test
