#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/features/lessons/lesson.h"
#include "compute/core/error.h"
#include "tests/app/lessons/lesson_text.h"

namespace orrery {
namespace {

using test::lesson_text;
using test::lesson_with;

const KernelCatalog& known_kernels() {
  static const KernelCatalog catalog;
  return catalog;
}

Lesson parsed(const std::string& text) {
  return parse_lesson(text, "mine.md", known_kernels());
}

TEST(ReadLesson, HasItsParts) {
  const Lesson lesson = parsed(lesson_text());
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
  const Lesson lesson = parsed(text);
  ASSERT_TRUE(lesson.with_gpu);
  EXPECT_EQ(lesson.part(true).rows[0].kernel_id, "cuda-naive");
  EXPECT_EQ(lesson.part(false).rows[0].kernel_id, "cpu-serial");
  EXPECT_EQ(lesson.part(true).change.size(), lesson.part(false).change.size()) << "for both";
}

TEST(ReadLesson, ReadsLineEndsOfWindows) {
  std::string text;
  for (const char c : lesson_text()) text += c == '\n' ? std::string{"\r\n"} : std::string{c};
  EXPECT_EQ(parsed(text).part(false).rows.size(), 3u);
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
      {"Words of", "#Words of", 3, {"heading"}},
  };
  for (const Wrong& wrong : all) {
    const std::string text = lesson_with(wrong.from, wrong.to);
    try {
      (void)parsed(text);
      ADD_FAILURE() << "accepted: " << wrong.to;
    } catch (const UsageError& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.starts_with("mine.md:" + std::to_string(wrong.line) + ": ")) << wrong.to << "\n" << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      for (const std::string& words : wrong.said) {
        EXPECT_NE(message.find(words), std::string::npos) << words << " is not in: " << message;
      }
    }
  }
}

TEST(ReadLesson, LimitsItsSize) {
  EXPECT_THROW(parsed(lesson_text() + std::string(Lesson::most_bytes, '\n')), UsageError);
  std::string rows;
  for (std::size_t i = 0; i < Lesson::most_rows; ++i) rows += "row-" + std::to_string(i) + " = cpu-serial n=8\n";
  EXPECT_THROW(parsed(lesson_with("small = ", rows + "small = ")), UsageError);
  std::string commands;
  for (std::size_t i = 0; i < Lesson::most_commands; ++i) commands += "axes on\n";
  EXPECT_THROW(parsed(lesson_with("softening", commands + "softening")), UsageError);
}

TEST(ReadLesson, AQuestionForTheBestNamesRows) {
  const std::string text =
      lesson_with("time big / small\nbelow 2: Less than twice.\n2 to 8: About four times.\nabove 8: More than that.",
                  "fastest\nbig: The loop.\nvector: The vectors.");
  const LessonQuestion question = parsed(text).part(false).question;
  EXPECT_EQ(question.kind, LessonQuestion::Kind::fastest);
  ASSERT_EQ(question.choices.size(), 2u);
  EXPECT_EQ(question.choices[1].row, "vector");
}

}  // namespace
}  // namespace orrery
