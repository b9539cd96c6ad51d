#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/text/markdown.h"
#include "app/ui_state/lesson_commands.h"

namespace orrery {

/// What is measured under one label of a lesson; NaN: not measured.
struct LessonRowStatus {
  std::string label, what;  ///< what: "cpu-symmetric tile=64, 4,096 bodies"
  double ms, low_ms, high_ms;
  double interactions_per_s, error;
  std::string problem;  ///< why it was not measured; empty: it was, or not yet
};

struct LessonTitle {
  int number;
  std::string title;
};

/// What the window shows of the lessons.
struct LessonStatus {
  std::vector<LessonTitle> titles;  ///< of all lessons
  bool shown = false;
  bool listed = true;  ///< the list is shown rather than a lesson; the values below are those of the last lesson
  int number = 0;      ///< 0: of a file
  std::chrono::steady_clock::time_point opened{};
  std::string title;
  LessonPage page = LessonPage::read;
  std::string machine;  ///< what is measured here
  TextBlocks introduction, scene, predict, measure, answer, change;
  std::vector<std::string> choices;
  std::optional<int> predicted;  ///< of the choices
  std::vector<LessonRowStatus> rows;
  bool measuring = false, measured = false;
  std::string present;      ///< as SweepStatus::present
  int done = 0, total = 0;  ///< rows
  double left_s = 0;
  std::string verdict;      ///< what decides the question, measured here; empty until it is
  std::vector<bool> right;  ///< of the choices, one at most; all false: not known or not decided
};

}  // namespace orrery
