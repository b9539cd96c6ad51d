// The measurements of a lesson, and the answers that follow from them.
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

/// Measurements of LessonPart::rows, in the same order.
using LessonResults = std::vector<Measurement>;

/// The machine on which a lesson is measured.
struct LessonMachine {
  std::string processor, gpu;  ///< names; gpu is empty without one
  int threads = 1;             ///< hardware threads that this process may use
};

/// The measured answer to a lesson's question.
struct Judgement {
  bool known = false;          ///< false: a row that the question needs was not measured
  std::string words;           ///< "time one / two = 1.97 (1.91 to 2.02)" or "fastest: two"
  std::vector<bool> possible;  ///< for each choice; several if the measurement cannot separate them
  std::vector<bool> right;     ///< for each choice: the only possible one; all false if several are possible

  bool decided() const { return std::ranges::find(right, true) != right.end(); }
};
Judgement judge(const LessonPart& part, const LessonResults& results);

/// Returns the judgement in sentences, with the letters of the right choices.
std::string verdict(const Judgement& judgement);
/// Returns the letter of a choice: 'a' for 0.
inline char letter_of(std::size_t choice) {
  return static_cast<char>('a' + choice);
}

/// Replaces each brace in the blocks by its measured figure. Braces: ratios such as {time A / B}, {time A}, {rate A},
/// {error A}, {chosen A}, {fastest}, {most accurate}, {processor}, {gpu}, {threads}.
TextBlocks filled(const TextBlocks& blocks, const LessonPart& part, const LessonResults& results,
                  const LessonMachine& machine);

/// Throws UsageError that starts with "NAME:LINE: " if a brace in the blocks is no figure of `part`.
void check_braces(const TextBlocks& blocks, const std::string& name, const LessonPart& part);
/// Throws UsageError that starts with "NAME:LINE: " if a figure in an answer is neither measured nor has a source.
/// Figures are numbers with a unit of speed, such as "2 times". A paragraph or table row has a source if it contains
/// "row", "source" or a link. In a table's column whose title begins with "here", any number is an error.
void check_sources(const TextBlocks& blocks, const std::string& name);

/// Measures the rows of a lesson one after the other, as `bench` does. No function blocks: call tick() until ended().
class LessonMeasurement {
 public:
  /// Fewer and shorter samples than those of `bench`, because a reader waits.
  static constexpr Sampling sampling{.warmup_steps = 2, .sample_ms = 10, .samples = 15};

  /// Prepares the measurement. `backends` must outlive this object. Throws UsageError for a kernel or a setting that
  /// does not exist, and std::runtime_error for a kernel that cannot run on this machine.
  LessonMeasurement(const Backends& backends, const Lesson& lesson, const LessonPart& part);

  /// Collects and starts measurements; see Sweep::tick().
  bool tick();
  void stop();
  bool ended() const { return !sweep_; }

  std::size_t done() const { return done_ + (sweep_ ? sweep_->entries().size() : 0); }
  std::size_t total() const { return results_.size(); }
  /// Returns the current measurement as text; see Sweep::present().
  std::string present() const { return sweep_ ? sweep_->present() : std::string{}; }
  double left_s() const;
  /// Returns the results of all rows. Rows that have not been measured have empty results.
  const LessonResults& results() const { return results_; }

 private:
  /// Rows with the same number of bodies, measured by one Sweep.
  struct Group {
    std::vector<std::size_t> rows;
    SweepPlan plan;
  };

  void take_results();
  void begin_group();

  const Backends& backends_;
  std::vector<Group> groups_;
  std::size_t group_ = 0;  // index of the current group
  std::size_t done_ = 0;   // number of rows in the groups before
  LessonResults results_;
  std::optional<Sweep> sweep_;  // sweep of the current group; none: the measurement has ended
};

/// Returns the machine that this process runs on.
LessonMachine lesson_machine(const Backends& backends);

}  // namespace orrery
