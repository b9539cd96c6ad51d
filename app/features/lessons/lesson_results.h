#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/lessons/lesson.h"
#include "app/lab/measurement.h"

namespace orrery {

/// The measurements of all LessonPart::rows, in their order.
using LessonResults = std::vector<Measurement>;

/// The machine that a lesson is measured on.
struct LessonMachine {
  std::string processor, gpu;  ///< gpu: empty without one
  int threads = 1;             ///< hardware threads that this process may run on
};

/// The measured answer to a question.
struct Judgement {
  bool known = false;          ///< false: a row that it needs was not measured
  std::string words;           ///< "time one / two = 1.97 (1.91 to 2.02)" or "fastest: two"
  std::vector<bool> possible;  ///< of each choice; more than one if the measurement cannot separate them
  std::vector<bool> right;     ///< of each choice: the one that is possible; all false if several are

  bool decided() const { return std::ranges::find(right, true) != right.end(); }
};
Judgement judge(const LessonPart& part, const LessonResults& results);

/// The words with the letters of the right choices, as sentences.
std::string verdict(const Judgement& judgement);
/// The letter of a choice, counted from 0.
inline char letter_of(std::size_t choice) {
  return static_cast<char>('a' + choice);
}

/// The blocks with measured figures for the braces in them: {time A}, {rate A}, {error A} and their ratios
/// {time A / B}; {chosen A}; {fastest}, {most accurate}; {processor}, {gpu}, {threads}.
TextBlocks filled(const TextBlocks& blocks, const LessonPart& part, const LessonResults& results,
                  const LessonMachine& machine);

/// Throws UsageError that starts with "NAME:LINE: " if a brace holds no figure of `part`.
void check_braces(const TextBlocks& blocks, const std::string& name, const LessonPart& part);
/// Throws the same if a block of an answer has a figure that is neither measured nor a source's: a number with a unit
/// of speed, such as "2 times", in a paragraph or a table's row that says neither "row" nor "source" and has no link;
/// or a number in a table's column whose title begins with "here".
void check_sources(const TextBlocks& blocks, const std::string& name);

}  // namespace orrery
