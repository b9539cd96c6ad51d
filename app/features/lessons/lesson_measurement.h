#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/features/lessons/lesson.h"
#include "app/features/lessons/lesson_results.h"
#include "app/lab/sweep/sweep.h"

namespace orrery {

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
