// The twelve lessons themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include "app/lessons/lesson.h"
#include "app/lessons/lesson_measurement.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

std::string contents(const std::string& file) {
  std::stringstream text;
  text << std::ifstream{std::string{ORRERY_SOURCE_FOLDER} + "/" + file}.rdbuf();
  EXPECT_GT(text.str().size(), 0u) << file;
  return text.str();
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex{pattern};
  std::vector<std::string> found;
  for (std::sregex_iterator at{text.begin(), text.end(), regex}, end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

const KernelCatalog& kernels() {
  return test::backends().kernels();
}

std::vector<const LessonPart*> parts_of(const Lesson& lesson) {
  std::vector<const LessonPart*> parts{&lesson.without_gpu};
  if (lesson.with_gpu) parts.push_back(&*lesson.with_gpu);
  return parts;
}

TEST(Lessons, AreTwelve) {
  ASSERT_EQ(lesson_files().size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(lesson_files()[i].number, static_cast<int>(i) + 1);
  for (const LessonFile& file : lesson_files()) EXPECT_EQ(lesson_of(file.number, kernels()).title, file.title());
  EXPECT_THROW(lesson_of(13, kernels()), std::runtime_error);
}

TEST(Lessons, AreInTheListForLecturers) {
  const std::string list = contents("docs/lessons/README.md");
  for (const LessonFile& file : lesson_files()) {
    EXPECT_NE(list.find("[" + file.title() + "](" + std::string{file.name} + ")"), std::string::npos) << file.name;
  }
}

/// README.md's table names each kernel with its settings; values are checked where the catalog has CUDA kernels.
TEST(Lessons, MeasureKernelsAndSettingsThatExist) {
  const std::string readme = contents("README.md");
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = lesson_of(file.number, kernels());
    for (const LessonPart* part : parts_of(lesson)) {
      for (const LessonRow& row : part->rows) {
        const std::size_t at = readme.find("| `" + row.kernel_id + "` |");
        ASSERT_NE(at, std::string::npos) << file.name << ": " << row.kernel_id;
        const std::string line = readme.substr(at, readme.find('\n', at) - at);
        for (const auto& [name, value] : row.settings) {
          EXPECT_NE(line.find("`" + name + "`"), std::string::npos)
              << file.name << ": " << row.kernel_id << " " << name;
        }
      }
    }
  }
}

/// "row 16" in a table's row: its figures stand in that row of docs/literature.md.
TEST(Lessons, QuoteTheFiguresOfTheLiterature) {
  std::map<std::string, std::string> rows;
  std::istringstream literature{contents("docs/literature.md")};
  for (std::string line; std::getline(literature, line);) {
    const auto number = matches(line, R"(^\| ([0-9]+) \|)");
    if (!number.empty()) rows[number.front()] = line;
  }
  ASSERT_EQ(rows.size(), 24u);
  int checked = 0;
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = lesson_of(file.number, kernels());
    for (const LessonPart* part : parts_of(lesson)) {
      for (const TextBlock& block : part->answer) {
        for (const std::vector<std::string>& row : block.rows) {
          const auto place = matches(row.back(), R"(row ([0-9]+))");
          if (place.empty()) continue;
          ASSERT_TRUE(rows.contains(place.front())) << file.name;
          for (const std::string& figure : matches(row[row.size() - 2], R"(([0-9][0-9.,]*))")) {
            const std::string number = figure.substr(0, figure.find_last_not_of(".,") + 1);
            const bool other_rows = number == "20,480" || number == "1060";  // of row 1 and of the document
            EXPECT_TRUE(other_rows || rows[place.front()].find(number) != std::string::npos)
                << file.name << ": " << number << " is not in row " << place.front();
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 20);
}

/// The same for our own measurements, which a link names.
TEST(Lessons, QuoteTheFiguresOfTheMeasurements) {
  int checked = 0;
  for (const LessonFile& file : lesson_files()) {
    const Lesson lesson = lesson_of(file.number, kernels());
    for (const LessonPart* part : parts_of(lesson)) {
      for (const TextBlock& block : part->answer) {
        for (const std::vector<std::string>& row : block.rows) {
          const auto link = matches(row.back(), R"(\]\(\.\./((?:measurements|\.\./compute)/[^)]*)\))");
          if (link.empty()) continue;
          const std::string page = std::regex_replace(contents("docs/" + link.front()), std::regex{"e-0"}, "e-");
          for (const std::string& figure : matches(row[row.size() - 2], R"(([0-9]+\.[0-9]+(?:e-[0-9]+)?))")) {
            EXPECT_NE(page.find(figure), std::string::npos)
                << file.name << ": " << figure << " is not in " << link.front();
            ++checked;
          }
        }
      }
    }
  }
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
    const Lesson lesson = lesson_of(file.number, kernels());
    for (const TextBlocks& blocks : {lesson.introduction, lesson.scene_words, lesson.without_gpu.change}) {
      for (const TextBlock& block : blocks) EXPECT_EQ(block.text.find('{'), std::string::npos) << file.name;
    }
  }
}

/// Every lesson, whole, with the CPU's kernels.
TEST(Lessons, AreMeasuredAndAnswered) {
  const auto begin = std::chrono::steady_clock::now();
  for (const LessonFile& file : lesson_files()) {
    SCOPED_TRACE(file.name);
    const Lesson lesson = lesson_of(file.number, kernels());
    const LessonPart& part = lesson.part(false);
    LessonMeasurement measurement{test::backends(), lesson, part};
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
    for (const TextBlock& block : filled(part.answer, part, measurement.results(), lesson_machine(test::backends()))) {
      EXPECT_EQ(block.text.find("not measured)"), std::string::npos) << block.text;
      for (const auto& row : block.rows) {
        for (const std::string& cell : row) EXPECT_EQ(cell.find("(not measured)"), std::string::npos) << cell;
      }
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  RecordProperty("seconds", std::to_string(taken.count()));
}

TEST(Lessons, CanBeStopped) {
  const Lesson lesson = lesson_of(1, kernels());
  LessonMeasurement measurement{test::backends(), lesson, lesson.part(false)};
  (void)measurement.tick();
  measurement.stop();
  EXPECT_TRUE(measurement.ended());
  EXPECT_FALSE(judge(lesson.part(false), measurement.results()).known);
  measurement.stop();
}

}  // namespace
}  // namespace orrery
