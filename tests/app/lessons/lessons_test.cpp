#include <regex>

#include "app/features/lessons/lesson.h"
#include "app/features/lessons/lesson_results.h"
#include "compute/core/error.h"
#include "tests/app/lessons/lesson_text.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

Lesson lesson_in(const std::string& text) {
  return parse_lesson(text, "mine.md", catalog());
}

TEST(ReadLesson, HasItsParts) {
  const Lesson lesson = lesson_in(lesson_text());
  EXPECT_EQ(lesson.title, "A lesson");
  ASSERT_EQ(lesson.introduction.size(), 1u);
  EXPECT_EQ(lesson.scene.scene, "plummer");
  EXPECT_EQ(lesson.physics.size(), 1u);
  EXPECT_EQ(lesson.picture.size(), 1u);
  EXPECT_FALSE(lesson.with_gpu);
  const LessonPart& part = lesson.part(true);
  ASSERT_EQ(part.rows.size(), 3u);
  EXPECT_EQ(part.rows[2].label, "vector");
  EXPECT_EQ(part.rows[2].kernel_id, "cpu-simd");
  EXPECT_EQ(part.rows[2].settings, (Settings::Values{{"threads", "1"}}));
  EXPECT_EQ(part.rows[2].count, 32);
  ASSERT_EQ(part.question.choices.size(), 3u);
  EXPECT_EQ(part.question.choices[1].low, 2);
  EXPECT_EQ(part.question.choices[1].high, 8);
  EXPECT_EQ(part.question.choices[1].text, "About four times.");
  EXPECT_EQ(part.answer.size(), 2u);
}

TEST(ReadLesson, HasAHalfForEachKindOfMachine) {
  std::string text = lesson_with("## Measure\n",
                                 "## Measure\n\n### With a GPU\n\n```measure\nsmall = cuda-naive block=32 n=1k\n"
                                 "big = cuda-tiled n=1k\nvector = cpu-serial n=8\n```\n\n### Without a GPU\n");
  const Lesson lesson = lesson_in(text);
  ASSERT_TRUE(lesson.with_gpu);
  EXPECT_EQ(lesson.part(true).rows[0].kernel_id, "cuda-naive");
  EXPECT_EQ(lesson.part(false).rows[0].kernel_id, "cpu-serial");
  EXPECT_EQ(lesson.part(true).change.size(), lesson.part(false).change.size()) << "for both";
}

TEST(ReadLesson, ReadsLineEndsOfWindows) {
  std::string text;
  for (const char c : lesson_text()) text += c == '\n' ? std::string{"\r\n"} : std::string{c};
  EXPECT_EQ(lesson_in(text).part(false).rows.size(), 3u);
}

struct Wrong {
  std::string from, to;
  int line;
  std::vector<std::string> said;
};

TEST(ReadLesson, NamesTheLineTheCauseAndTheChoices) {
  const std::vector<Wrong> all{
      {"# A lesson", "A lesson", 1, {"begins with its title"}},
      {"## Scene", "## Stage", 5, {"'Stage' cannot stand here", "## Scene"}},
      {"## Answer", "## Change", 32, {"'Change' cannot stand here", "## Answer"}},
      {"## Change\n\n- Something.\n", "", 32, {"ends without the heading '## Change'"}},
      {"## Predict\n", "## Predict\n\n### On a GPU\n", 15, {"unknown heading 'On a GPU'", "### With a GPU"}},
      {"```window\n", "```windows\n", 5, {"```window"}},
      {"scene plummer\n", "", 7, {"no scene", "plummer", "collision"}},
      {"scene plummer\n", "scene plumer\n", 8, {"plumer", "plummer"}},
      {"scene plummer\n", "scene plummer n=4k\n", 8, {"n=BODIES"}},
      {"scene plummer\n", "scene file=bodies.bin\n", 8, {"no file"}},
      {"scene plummer\n", "scene plummer\nscene plummer\n", 9, {"one scene"}},
      {"softening 0.05\n", "softening -1\n", 9, {"softening"}},
      {"softening 0.05\n", "screenshot mine.png\n", 9, {"'screenshot' cannot be used in a lesson", "appearance"}},
      {"softening 0.05\n", "kernel cpu-simd\n", 9, {"'kernel' cannot be used"}},
      {"softening 0.05\n", "softness 1\n", 9, {"softness", "softening"}},
      {"```predict\n", "```\n", 13, {"```predict"}},
      {"time big / small\n", "time big\n", 18, {"fastest"}},
      {"time big / small\n", "speed big / small\n", 18, {"'speed'", "time or rate or error"}},
      {"time big / small\n", "time big / large\n", 18, {"'large'", "small, big, vector"}},
      {"below 2:", "above 2:", 19, {"the first choice must be 'below X:'"}},
      {"2 to 8:", "3 to 8:", 20, {"must begin at 2"}},
      {"2 to 8:", "2 to nan:", 20, {"nan"}},
      {"2 to 8:", "2 - 8:", 20, {"X to Y"}},
      {"above 8: More than that.\n", "", 17, {"above 8"}},
      {"above 8:", "8 to 9:", 17, {"above 9"}},
      {"above 8: More than that.", "above 8", 21, {"KEY: WORDS"}},
      {"small = cpu-serial n=16", "small cpu-serial n=16", 27, {"LABEL = KERNEL"}},
      {"small = cpu-serial n=16", "Small = cpu-serial n=16", 27, {"small letters"}},
      {"small = cpu-serial n=16", "small = cpu-serial", 27, {"n=BODIES"}},
      {"small = cpu-serial n=16", "small = cpu-serial n=0", 27, {"n", "'0'"}},
      {"small = cpu-serial n=16", "small = cpu-serial n=16 n=17", 27, {"twice"}},
      {"small = cpu-serial n=16", "small = cpu-seriel n=16", 27, {"cpu-seriel", "did you mean cpu-serial"}},
      {"small = cpu-serial n=16", "small = cpu-serial block=16 n=16", 27, {"block"}},
      {"vector = cpu-simd threads=1", "vector = cpu-simd threads=0", 29, {"threads", "'0'", "4"}},
      {"vector = cpu-simd threads=1", "vector = cpu-simd threads", 29, {"NAME=VALUE"}},
      {"vector = cpu-simd", "big = cpu-simd", 29, {"two rows are called 'big'"}},
      {"small = cpu-serial n=16", "small = cuda-naive n=16", 24, {"cuda-naive", "needs a GPU"}},
      {"{time big}", "{time large}", 34, {"{time large}", "small, big, vector"}},
      {"{time big}", "{speed big}", 34, {"{speed big}", "{fastest}"}},
      {"{time big}", "{time big", 34, {"'{'"}},
      {"{threads} threads", "{thread} threads", 15, {"{thread}"}},
      {"which is {time big / small} times", "which is 4 times", 34, {"'4 times'", "{time ROW / ROW}", "source"}},
      {"| {rate vector} |", "| 17 |", 36, {"'here'", "17"}},
      {"| row 13 |", "| a book |", 36, {"29 times"}},
      {"| gain | {rate vector} | 29 times |", "| gain | {rate vector} |", 38, {"4 cells"}},
      {"| --- | --- | --- | --- |\n", "", 37, {"rule"}},
      {"- Something.\n", "```\nno end\n", 42, {"has no end"}},
      {"- Something.\n", "", 40, {"is empty"}},
      {"Words of", "Words\x01 of", 3, {"not text"}},
      {"Words of", std::string(1001, 'w'), 3, {"1000 bytes"}},
      {"Words of", "#Words of", 3, {"heading"}}};
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.to);
    const Failure failure = failure_of([&] { (void)lesson_in(lesson_with(wrong.from, wrong.to)); });
    EXPECT_EQ(failure.kind, Failure::usage);
    EXPECT_TRUE(failure.message.starts_with("mine.md:" + std::to_string(wrong.line) + ": ")) << failure.message;
    expect_lacks(failure.message, {"\n"});
    for (const std::string& words : wrong.said) expect_holds(failure.message, {words});
  }
}

TEST(ReadLesson, LimitsItsSize) {
  EXPECT_THROW(lesson_in(lesson_text() + std::string(Lesson::most_bytes, '\n')), UsageError);
  std::string rows;
  for (std::size_t i = 0; i < Lesson::most_rows; ++i) rows += "row-" + std::to_string(i) + " = cpu-serial n=8\n";
  EXPECT_THROW(lesson_in(lesson_with("small = ", rows + "small = ")), UsageError);
  std::string commands;
  for (std::size_t i = 0; i < Lesson::most_commands; ++i) commands += "axes on\n";
  EXPECT_THROW(lesson_in(lesson_with("softening", commands + "softening")), UsageError);
}

TEST(ReadLesson, AQuestionForTheBestNamesRows) {
  const std::string text =
      lesson_with("time big / small\nbelow 2: Less than twice.\n2 to 8: About four times.\nabove 8: More than that.",
                  "fastest\nbig: The loop.\nvector: The vectors.");
  const LessonQuestion question = lesson_in(text).part(false).question;
  EXPECT_EQ(question.kind, LessonQuestion::Kind::fastest);
  ASSERT_EQ(question.choices.size(), 2u);
  EXPECT_EQ(question.choices[1].row, "vector");
}

// The twelve lessons themselves.

std::string source(const std::string& file) {
  const std::string text = contents(std::string{ORRERY_SOURCE_FOLDER} + "/" + file);
  EXPECT_NE(text, "") << file;
  return text;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex{pattern};
  std::vector<std::string> found;
  for (std::sregex_iterator at{text.begin(), text.end(), regex}, end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

std::vector<const LessonPart*> parts_of(const Lesson& lesson) {
  std::vector<const LessonPart*> parts{&lesson.without_gpu};
  if (lesson.with_gpu) parts.push_back(&*lesson.with_gpu);
  return parts;
}

/// All rows of tables in answers.
void for_each_row(const std::function<void(const LessonFile&, const std::vector<std::string>& row)>& action) {
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = lesson_of(file.number, catalog());
    for (const LessonPart* part : parts_of(lesson)) {
      for (const TextBlock& block : part->answer) {
        for (const std::vector<std::string>& row : block.rows) action(file, row);
      }
    }
  }
}

TEST(Lessons, AreTwelve) {
  ASSERT_EQ(lesson_files().size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(lesson_files()[i].number, static_cast<int>(i) + 1);
  for (const LessonFile& file : lesson_files()) EXPECT_EQ(lesson_of(file.number, catalog()).title, file.title());
  EXPECT_THROW(lesson_of(13, catalog()), std::runtime_error);
}

TEST(Lessons, AreInTheListForLecturers) {
  const std::string list = source("docs/lessons/README.md");
  for (const LessonFile& file : lesson_files()) {
    expect_holds(list, {"[" + file.title() + "](" + std::string{file.name} + ")"});
  }
}

/// README.md's table names each kernel with its settings; values are checked where the catalog has CUDA kernels.
TEST(Lessons, MeasureKernelsAndSettingsThatExist) {
  const std::string readme = source("README.md");
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = lesson_of(file.number, catalog());
    for (const LessonPart* part : parts_of(lesson)) {
      for (const LessonRow& row : part->rows) {
        const std::size_t at = readme.find("| `" + row.kernel_id + "` |");
        ASSERT_NE(at, std::string::npos) << file.name << ": " << row.kernel_id;
        const std::string line = readme.substr(at, readme.find('\n', at) - at);
        for (const auto& [name, value] : row.settings) {
          expect_holds(line, {"`" + name + "`"});
        }
      }
    }
  }
}

/// "row 16" in a table's row: its figures stand in that row of docs/literature.md.
TEST(Lessons, QuoteTheFiguresOfTheLiterature) {
  std::map<std::string, std::string> rows;
  std::istringstream literature{source("docs/literature.md")};
  for (std::string line; std::getline(literature, line);) {
    const auto number = matches(line, R"(^\| ([0-9]+) \|)");
    if (!number.empty()) rows[number.front()] = line;
  }
  ASSERT_EQ(rows.size(), 24u);
  int checked = 0;
  for_each_row([&](const LessonFile& file, const std::vector<std::string>& row) {
    const auto place = matches(row.back(), R"(row ([0-9]+))");
    if (place.empty()) return;
    ASSERT_TRUE(rows.contains(place.front())) << file.name;
    for (const std::string& figure : matches(row[row.size() - 2], R"(([0-9][0-9.,]*))")) {
      const std::string number = figure.substr(0, figure.find_last_not_of(".,") + 1);
      const bool other_rows = number == "20,480" || number == "1060";  // of row 1 and of the document
      EXPECT_TRUE(other_rows || holds(rows[place.front()], number))
          << file.name << ": " << number << " is not in row " << place.front();
      ++checked;
    }
  });
  EXPECT_GT(checked, 20);
}

/// The same for our own measurements, which a link names.
TEST(Lessons, QuoteTheFiguresOfTheMeasurements) {
  int checked = 0;
  for_each_row([&](const LessonFile&, const std::vector<std::string>& row) {
    const auto link = matches(row.back(), R"(\]\(\.\./((?:measurements|\.\./compute)/[^)]*)\))");
    if (link.empty()) return;
    const std::string page = std::regex_replace(source("docs/" + link.front()), std::regex{"e-0"}, "e-");
    for (const std::string& figure : matches(row[row.size() - 2], R"(([0-9]+\.[0-9]+(?:e-[0-9]+)?))")) {
      expect_holds(page, {figure});
      ++checked;
    }
  });
  EXPECT_GT(checked, 10);
}

/// The window's fonts have Latin-1 and little more.
TEST(Lessons, AreInCharactersThatTheWindowHas) {
  for (const LessonFile& file : lesson_files()) {
    for (const char c : file.text) ASSERT_LT(static_cast<unsigned char>(c), 0x80) << file.name;
  }
}

TEST(Lessons, HaveNoBracesOutsideOfAnswersAndQuestions) {
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = lesson_of(file.number, catalog());
    for (const TextBlocks& blocks : {lesson.introduction, lesson.scene_words, lesson.without_gpu.change}) {
      for (const TextBlock& block : blocks) EXPECT_EQ(block.text.find('{'), std::string::npos) << file.name;
    }
  }
}

/// Every lesson, whole, with the CPU's kernels.
TEST(Lessons, AreMeasuredAndAnswered) {
  for (const LessonFile& file : lesson_files()) {
    SCOPED_TRACE(file.name);
    const Lesson lesson = lesson_of(file.number, catalog());
    const LessonPart& part = lesson.part(false);
    LessonMeasurement measurement{backends(), lesson, part};
    EXPECT_EQ(measurement.total(), part.rows.size());
    EXPECT_FALSE(measurement.present().empty());
    while (!measurement.ended()) {
      if (measurement.tick()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    EXPECT_EQ(measurement.done(), part.rows.size());
    for (const Measurement& result : measurement.results()) {
      EXPECT_EQ(result.problem.text, "");
      EXPECT_GT(result.step_ms.median, 0);
      EXPECT_LE(result.step_ms.low, result.step_ms.high);
      EXPECT_GT(result.interactions_per_s, 0);
      EXPECT_LT(result.errors().median, 1e-2);
    }
    const Judgement judgement = judge(part, measurement.results());
    EXPECT_TRUE(judgement.known);
    EXPECT_NE(std::ranges::find(judgement.possible, true), judgement.possible.end());
    EXPECT_LE(std::ranges::count(judgement.right, true), 1);
    for (const TextBlock& block : filled(part.answer, part, measurement.results(), lesson_machine(backends()))) {
      expect_lacks(block.text, {"not measured)"});
      for (const auto& row : block.rows) {
        for (const std::string& cell : row) EXPECT_EQ(cell.find("(not measured)"), std::string::npos) << cell;
      }
    }
  }
}

TEST(Lessons, CanBeStopped) {
  const Lesson lesson = lesson_of(1, catalog());
  LessonMeasurement measurement{backends(), lesson, lesson.part(false)};
  (void)measurement.tick();
  measurement.stop();
  EXPECT_TRUE(measurement.ended());
  EXPECT_FALSE(judge(lesson.part(false), measurement.results()).known);
  measurement.stop();
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

LessonPart small_part(const std::string& question = {}) {
  const std::string own =
      "time big / small\nbelow 2: Less than twice.\n2 to 8: About four times.\nabove 8: More than that.";
  const std::string text = question.empty() ? lesson_text() : lesson_with(own, question);
  return parse_lesson(text, "mine.md", catalog()).without_gpu;
}

Measurement result(double ms, double low_ms, double high_ms, double error = 1e-7) {
  Measurement result;
  result.step_ms = {.median = ms, .min = low_ms, .low = low_ms, .high = high_ms};
  result.interactions_per_s = 1.5e9;
  result.error = ForceError{.rms = error, .median = error, .p99 = error, .max = error};
  return result;
}

TEST(LessonResults, OneChoiceIsRightIfTheIntervalSaysSo) {
  const Judgement judgement = judge(small_part(), {result(1, 0.9, 1.1), result(4, 3.9, 4.1), result(1, 1, 1)});
  EXPECT_TRUE(judgement.known);
  EXPECT_EQ(judgement.right, (std::vector{false, true, false}));
  EXPECT_TRUE(verdict(judgement).ends_with("So b is right.")) << verdict(judgement);
  expect_holds(judgement.words, {"time big / small = 4 ("});
}

TEST(LessonResults, SeveralChoicesAreRightIfTheIntervalHoldsTheirBound) {
  const Judgement judgement = judge(small_part(), {result(1, 0.9, 1.1), result(2.1, 1.9, 2.3), result(1, 1, 1)});
  EXPECT_TRUE(verdict(judgement).ends_with("cannot tell a and b apart.")) << verdict(judgement);
}

TEST(LessonResults, NothingIsRightIfARowWasNotMeasured) {
  for (const LessonResults& results : {LessonResults{result(1, 1, 1), result(none, none, none), result(1, 1, 1)},
                                       LessonResults{result(none, none, none), result(1, 1, 1), result(1, 1, 1)}}) {
    const Judgement judgement = judge(small_part(), results);
    EXPECT_FALSE(judgement.known);
    expect_holds(verdict(judgement), {"stays open"});
    expect_holds(judgement.words, {"not measured"});
  }
}

TEST(LessonResults, TheBestIsWhateverTheIntervalsCannotTellApart) {
  const LessonPart part = small_part("fastest\nsmall: One.\nbig: Two.\nvector: Three.");
  const LessonResults results{result(1, 0.8, 1.05), result(4, 3.9, 4.1), result(1.1, 1.0, 1.2)};
  const Judgement judgement = judge(part, results);
  EXPECT_EQ(judgement.possible, (std::vector{true, false, true}));
  EXPECT_EQ(judgement.right, (std::vector{false, false, false})) << "one answer is right, or none";
  EXPECT_FALSE(judgement.decided());
  EXPECT_TRUE(verdict(judgement).ends_with("Not decided on this machine: the measurement cannot tell a and c apart."))
      << verdict(judgement);
  EXPECT_FALSE(judge(part, {results[1], results[0], result(none, none, none)}).known);
}

TEST(LessonResults, TheMostAccurateHasTheSmallestError) {
  const LessonPart part = small_part("most accurate\nsmall: One.\nbig: Two.");
  const LessonResults results{result(1, 1, 1, 2e-7), result(2, 2, 2, 1e-7), result(3, 3, 3, 1e-9)};
  EXPECT_EQ(judge(part, results).right, (std::vector{false, true})) << "vector is no choice";
}

TEST(LessonResults, FiguresTakeThePlaceOfTheirBraces) {
  const LessonPart part = small_part();
  const LessonMachine machine{.processor = "A processor", .gpu = "", .threads = 3};
  const TextBlocks answer = filled(part.answer, part, {result(1, 1, 1), result(4.25, 4, 5), result(2, 2, 2)}, machine);
  EXPECT_EQ(answer[0].text, "It took 4.25 ms, which is 4.25 times 1 ms.");
  EXPECT_EQ(answer[1].rows[1][1], "1.5 G interactions/s");
  expect_holds(filled(part.predict, part, LessonResults(3), machine)[0].text, {"with 3 threads"});
}

TEST(LessonResults, AnErrorHasTheExponentOfTheTables) {
  const LessonPart part = small_part();
  TextBlock block;
  block.text = "{error " + part.rows.front().label + "}";
  const LessonResults results(3, result(1, 1, 1, 3.7e-8));
  EXPECT_EQ(filled({block}, part, results, {})[0].text, "3.7e-8");
}

TEST(LessonResults, WhatWasNotMeasuredHasNoNumber) {
  const LessonPart part = small_part();
  const TextBlocks answer = filled(part.answer, part, LessonResults(3), {});
  EXPECT_EQ(answer[0].text, "It took (not measured), which is (not measured) times (not measured).");
}

}  // namespace
}  // namespace orrery::test
