// `orrery lesson` of the built program.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "compute/core/temporary_folder.h"
#include "tests/app/lessons/lesson_text.h"
#include "tests/app/support/program.h"

namespace orrery {
namespace {

using test::expect_refused;
using test::Outcome;
using test::run_orrery;
using test::says;

TEST(LessonCommand, ListsTheLessons) {
  const Outcome outcome = run_orrery({"lesson"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "The double loop") && says(outcome, "Your own kernel")) << outcome.out;
}

TEST(LessonCommand, MeasuresAndAnswersWithoutATerminal) {
  const Outcome outcome = run_orrery({"lesson", "1", "--cpu"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* words : {"Lesson 1: The double loop", "Predict", "a)  ", "Measured here and now: ", "cpu-serial",
                            "time large / medium = ", "Answer", "Vliora", "Change"}) {
    EXPECT_TRUE(says(outcome, words)) << words << " is not in\n" << outcome.out;
  }
  EXPECT_FALSE(says(outcome, "Your prediction")) << "there is no terminal";
  EXPECT_EQ(outcome.out.find('{'), std::string::npos) << outcome.out;
}

TEST(LessonCommand, RunsALecturersFile) {
  const TemporaryFolder folder;
  std::ofstream{folder / "mine.md"} << test::lesson_text();
  const Outcome outcome = run_orrery({"lesson", "--file", "mine.md", "--no-wait"}, {.folder = folder.path().string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "A lesson") && says(outcome, "29 times")) << outcome.out;
}

TEST(LessonCommand, RefusesWhatIsNoLesson) {
  const TemporaryFolder folder;
  std::ofstream{folder / "wrong.md"} << test::lesson_with("cpu-serial n=16", "cpu-seriel n=16");
  const std::string in = folder.path().string();
  expect_refused(run_orrery({"lesson", "--file", "wrong.md"}, {.folder = in}), 2, {"wrong.md:27:", "cpu-serial"});
  expect_refused(run_orrery({"lesson", "--file", "none.md"}, {.folder = in}), 1, {"none.md"});
  expect_refused(run_orrery({"lesson", "13"}), 2, {"'13'", "from 1 to 12"});
  expect_refused(run_orrery({"lesson", "one"}), 2, {"'one'", "from 1 to 12"});
  expect_refused(run_orrery({"lesson", "1", "--file", "wrong.md"}, {.folder = in}), 2, {"--file"});
  expect_refused(run_orrery({"lesson", "1", "2"}), 2, {"2"});
}

}  // namespace
}  // namespace orrery
