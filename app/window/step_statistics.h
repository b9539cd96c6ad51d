#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/text/csv.h"
#include "app/ui_state/status.h"
#include "compute/core/atomic_file.h"
#include "compute/sim/command.h"
#include "render/gl/readback.h"

namespace orrery {
/// Work of one step of `status`, after the integrator's first.
struct StepWork {
  int evaluations = 1;      ///< 0: it differs from step to step
  double interactions = 0;  ///< of all its evaluations
  int period = 1;           ///< steps after which their times repeat, see Settings::period()
};

StepWork step_work(const Status& status);

/// Medians, history and the table of results, from the timings of all batches of steps.
class StepStatistics {
 public:
  static constexpr std::size_t median_window = 120;  ///< batches
  static constexpr std::size_t result_window = 20;   ///< consecutive batches in a result's median
  static constexpr std::size_t history_length = 240;

  /// Batches must come in the order in which they ran; one without steps or without a finite time is left out. One
  /// with more evaluations than its steps need after the first, as leapfrog's first after a change of kernel, settings,
  /// law or bodies, is but the latest time: it is in no median, history or result. If the times of steps repeat after
  /// several steps, batches of whole periods count as one in medians and results, so that each has its share of all.
  /// `of_period`: it started after the last begin_period().
  void add(const Trial& trial, const StepWork& work, const StepTiming& timing, bool of_period = true);
  /// Begins the period of period_median_ms() with the next batch.
  void begin_period() {
    period_batches_ = 0;
    pending_ = {};
  }
  /// The median time of a step since begin_period(), of at most the last median_window batches, all of one trial; 0:
  /// none was measured.
  double period_median_ms() const;
  /// Sets the force error of `trial`'s result. Returns false if it has no result yet.
  bool add_error(const Trial& trial, const ForceError& error);
  /// Adds a row for a variant that a sweep has measured. It replaces the row of an earlier sweep.
  void add_swept(const Measurement& measured);
  void clear_results() { rows_.clear(); }
  /// See PinResult. Throws UsageError if there is no such row.
  void pin(int row, bool pinned);
  /// Throws UsageError if there is no such row.
  const Result& result(int row) const;

  /// Fills in step_ms_last to results. Until a batch of the present trial has been measured, times of steps are 0:
  /// those of another trial would be shown beside names that they do not belong to.
  void describe(ViewStatus& view, const Trial& present) const;
  /// In the order in which they were first tried, with their speed-ups.
  std::vector<Result> results() const;

 private:
  struct Row {
    Result result;
    std::size_t batches = 0;
  };
  std::vector<Row>::iterator find_row(const Trial& trial, bool swept = false);
  std::vector<Row>::iterator new_row(const Trial& trial);
  double median_of_last(std::size_t batches) const;
  void update_result(const Trial& trial, const StepWork& work, const StepTiming& timing);

  /// Batches that are not whole periods yet.
  struct Pending {
    int batches = 0, steps = 0;
    double ms = 0;
    bool of_period = true;
  };

  Trial trial_;
  Pending pending_;
  double last_ms_ = 0;
  std::deque<double> recent_ms_;    // of trial_
  std::size_t period_batches_ = 0;  // the last of recent_ms_, which may hold fewer
  std::deque<float> history_;
  std::vector<Row> rows_;
};

/// Writes `metadata` and the results as CSV. Returns the name that the file got; throws std::runtime_error that names
/// it and the cause.
std::string write_results(const std::string& file, const Json& metadata, std::span<const Result> results,
                          Existing existing = Existing::keep);

}  // namespace orrery
