// The measurements of a lesson, and the answers that they give.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/features/lessons/lesson.h"
#include "app/lab/measurement.h"
#include "app/lab/sweep/sweep.h"

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

/// Measures the rows of a lesson one after the other, as `bench` does. It never waits for a step: call tick() until it
/// has ended.
class LessonMeasurement {
 public:
  /// How each row is measured: fewer and shorter samples than those of `bench`, since a reader waits.
  static constexpr Sampling sampling{.warmup_steps = 2, .sample_ms = 10, .samples = 15};

  /// `backends` must outlive this. Throws UsageError for a kernel or a setting that does not exist, and
  /// std::runtime_error for one that cannot run here.
  LessonMeasurement(const Backends& backends, const Lesson& lesson, const LessonPart& part);

  /// Moves on; see Sweep::tick().
  bool tick();
  void stop();
  bool ended() const { return !sweep_; }

  std::size_t done() const { return done_ + (sweep_ ? sweep_->entries().size() : 0); }
  std::size_t total() const { return results_.size(); }
  /// The current measurement; see Sweep::present().
  std::string present() const { return sweep_ ? sweep_->present() : std::string{}; }
  double left_s() const;
  /// Results of every row; those that have not been measured yet are empty.
  const LessonResults& results() const { return results_; }

 private:
  /// Rows with the same number of bodies.
  struct Group {
    std::vector<std::size_t> rows;
    SweepPlan plan;
  };

  void take_results();
  void begin_group();

  const Backends& backends_;
  std::vector<Group> groups_;
  std::size_t group_ = 0;  // the current one
  std::size_t done_ = 0;   // rows of the groups before
  LessonResults results_;
  std::optional<Sweep> sweep_;  // of the current group; none: ended
};

/// Describes the machine that lessons are measured on.
LessonMachine lesson_machine(const Backends& backends);

}  // namespace orrery
