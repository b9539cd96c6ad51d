#include "app/lessons/lesson_results.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "app/lessons/lesson.h"
#include "tests/app/lessons/lesson_text.h"

namespace orrery {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

LessonPart small_part(const std::string& question = {}) {
  const KernelCatalog kernels;
  const std::string own =
      "time big / small\nbelow 2: Less than twice.\n2 to 8: About four times.\nabove 8: More than that.";
  const std::string text = question.empty() ? test::lesson_text() : test::lesson_with(own, question);
  return parse_lesson(text, "mine.md", kernels).without_gpu;
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
  EXPECT_NE(judgement.words.find("time big / small = 4 ("), std::string::npos) << judgement.words;
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
    EXPECT_NE(verdict(judgement).find("stays open"), std::string::npos) << verdict(judgement);
    EXPECT_NE(judgement.words.find("not measured"), std::string::npos) << judgement.words;
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
  EXPECT_NE(filled(part.predict, part, LessonResults(3), machine)[0].text.find("with 3 threads"), std::string::npos);
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
}  // namespace orrery
