#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/recording/recorder.h"
#include "app/text/csv.h"
#include "app/ui_state/status.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"
#include "compute/sim/command.h"
#include "render/gl/gpu_timer.h"

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
  void clear_results() {
    rows_.clear();
    written_ = 0;
  }
  /// Call when all results have been written to a file.
  void results_written() { written_ = tried_by_hand(); }
  /// Number of results that were tried by hand and are in no file. Results of sweeps are in files. A single result is
  /// only the current variant: nothing was compared.
  std::int64_t unwritten_results() const;
  /// See PinResult. Throws UsageError if there is no such row.
  void pin(int row, bool pinned);
  /// Throws UsageError if there is no such row.
  const Result& result(int row) const;

  /// Fills in step_ms_last to results. Until a batch of the current trial has been measured, times of steps are 0:
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
  std::int64_t tried_by_hand() const;
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
  std::int64_t written_ = 0;  // results tried by hand that are in a file
};

/// Writes `metadata` and the results as CSV. Returns the name that the file got; throws std::runtime_error that names
/// it and the cause.
std::string write_results(const std::string& file, const Json& metadata, std::span<const Result> results,
                          Existing existing = Existing::keep);

/// Choice of SelectNextKernel, and the kernels that it passes over.
struct NextKernel {
  static constexpr double longest_step_s = 0.5;

  std::string id;                 ///< of a kernel, or auto_kernel; the current one if there is no other
  std::vector<std::string> slow;  ///< ids of the kernels on the way that would need more than longest_step_s per step
  /// One line about them; empty if there are none.
  std::string notice() const;
};

/// Goes through `auto` and the kernels that can run here, in the order of the list; after the last comes the first.
/// `results` are the measured times to go by.
NextKernel next_kernel(const Status& status, const ViewStatus& view, std::span<const Result> results,
                       Direction direction);

/// Time of a step of `status` with this kernel, in s: from `results` if the kernel is there, otherwise a guess. 0 if
/// nothing is known of such a kernel: a GPU's, or a tree.
double forecast_step_s(const KernelInfo& kernel, const Status& status, std::span<const Result> results);
/// The same for one evaluation, of every kernel of which something is known, by its id.
std::map<std::string, double, std::less<>> evaluation_times(std::span<const KernelPtr> kernels, const Status& status,
                                                            std::span<const Result> results);

/// Collects the times of frames, which become known some frames later, for the window's statistics and the recording.
class FrameLog {
 public:
  /// Call after frame `frame` has started steps of `status`.
  void started(std::int64_t frame, const Status& status);
  void add(const StepTiming& timing);
  /// See StepStatistics::begin_period(): batches in flight do not belong to it.
  void begin_period();
  void add_draw(render::GpuTime time);
  /// Call at a frame's end, which is the start of the next. Of `times`, only gui_ms to frame_ms are read. Returns one
  /// line if the recording has failed.
  std::string ended(std::int64_t frame, int steps, const Status& status, const ViewStatus& view,
                    const FrameTimes& times, std::chrono::steady_clock::time_point end);

  /// See Recorder::open.
  std::string start_recording(const std::string& file, const Json& metadata, Existing existing);
  /// Returns one line if the file is not whole.
  std::string stop_recording();
  /// Writes no rows until the next recording starts; rows already written still get their times.
  void hold_rows(bool hold) { rows_held_ = hold; }
  bool recording() const { return recorder_.active(); }
  /// See ConservedLog::file.
  const std::string& conserved_file() const { return conserved_.file(); }

  StepStatistics& statistics() { return statistics_; }
  const StepStatistics& statistics() const { return statistics_; }
  /// Fills in times, step statistics and recording.
  void describe(ViewStatus& view, const Status& present) const;

 private:
  struct Started {
    std::int64_t frame;
    Trial trial;
    StepWork work;
    bool of_period = true;  // see begin_period()
  };

  std::string ended_by(std::string error);
  std::optional<ForceError> new_error(const Status& status);

  Recorder recorder_;
  ConservedLog conserved_;
  std::optional<ForceProbe> seen_probe_;
  std::string recording_error_;
  bool rows_held_ = false;
  StepStatistics statistics_;
  std::deque<Started> started_;  // not measured yet
  StepTiming timing_;            // the latest known
  FrameTimes times_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery
