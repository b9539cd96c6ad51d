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
#include "render/gl/gl_objects.h"

namespace orrery {

/// Work of each step of `status` after the integrator's first step.
struct StepWork {
  int evaluations = 1;      ///< evaluations per step; 0: the number varies
  double interactions = 0;  ///< interactions of all evaluations of a step
  int period = 1;           ///< number of steps after which step times repeat, see Settings::period()
};

StepWork step_work(const Status& status);

/// Medians, history and the table of results, from the times of all batches of steps.
class StepStatistics {
 public:
  static constexpr std::size_t median_window = 120;  ///< batches in period_median_ms()
  static constexpr std::size_t result_window = 20;   ///< consecutive batches in a result's median
  static constexpr std::size_t history_length = 240;

  /// Adds a batch to the medians, the history and the results. Call in the order in which batches ran. Leaves out
  /// batches without steps or without a finite time, and those with more evaluations than their steps usually need,
  /// such as leapfrog's first after a change of kernel, settings, law or bodies. If the times of steps repeat after
  /// several steps, joins batches to whole periods before it adds them. `of_period`: whether the batch started after
  /// the last begin_period().
  void add(const Trial& trial, const StepWork& work, const StepTiming& timing, bool of_period = true);
  /// Starts the period of period_median_ms() with the next batch.
  void begin_period() {
    period_batches_ = 0;
    pending_ = {};
  }
  /// Returns the median step time in ms since begin_period(), of at most the last median_window batches, all of one
  /// trial; 0: none was measured.
  double period_median_ms() const;
  /// Sets the force error of the result for `trial`. Returns false if there is no such result yet.
  bool add_error(const Trial& trial, const ForceError& error);
  /// Adds a row for a variant that a sweep measured. Replaces its row of an earlier sweep.
  void add_swept(const Measurement& measured);
  void clear_results() {
    rows_.clear();
    written_ = 0;
  }
  /// Records that all results were written to a file.
  void results_written() { written_ = tried_by_hand(); }
  /// Returns the number of results that were tried by hand and are in no file; sweeps write theirs. A single result
  /// does not count: it is only the current variant, and nothing was compared.
  std::int64_t unwritten_results() const;
  /// Pins or unpins a row, see PinResult. Throws UsageError if there is no such row.
  void pin(int row, bool pinned);
  /// Returns the result in a row. Throws UsageError if there is no such row.
  const Result& result(int row) const;

  /// Fills in step_ms_median to results. Until a batch of the current trial has been measured, times of steps are 0:
  /// those of another trial would be shown beside names that they do not belong to.
  void describe(ViewStatus& view, const Trial& present) const;
  /// Returns the results with their speed-ups, in the order in which they were first tried.
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

  /// Batches that do not form a whole period yet.
  struct Pending {
    int batches = 0, steps = 0;
    double ms = 0;
    bool of_period = true;
  };

  Trial trial_;
  Pending pending_;
  std::deque<double> recent_ms_;    // step times of trial_, one per batch or whole period
  std::size_t period_batches_ = 0;  // number of batches since begin_period(); recent_ms_ may hold fewer
  std::deque<float> history_;
  std::vector<Row> rows_;
  std::int64_t written_ = 0;  // number of results tried by hand that are in a file
};

/// Writes `metadata` and the results as CSV. Returns the name that the file got. Throws std::runtime_error that names
/// the file and the cause.
std::string write_results(const std::string& file, const Json& metadata, std::span<const Result> results,
                          Existing existing = Existing::keep);

/// The kernel that SelectNextKernel chooses, and the kernels that it skips.
struct NextKernel {
  static constexpr double longest_step_s = 0.5;

  std::string id;                 ///< id of a kernel, or auto_kernel; the current one if there is no other
  std::vector<std::string> slow;  ///< ids of the skipped kernels, which would need more than longest_step_s per step
  /// Returns one line about the skipped kernels; empty if there are none.
  std::string notice() const;
};

/// Returns the next kernel in `direction`, cyclically, among `auto` and the kernels that can run here. `results` are
/// the measured times that decide which kernels are skipped.
NextKernel next_kernel(const Status& status, const ViewStatus& view, std::span<const Result> results,
                       Direction direction);

/// Returns the expected time of a step of `status` with this kernel, in s: from `results` if they have the kernel,
/// otherwise a guess. Returns 0 if nothing is known, as for GPU kernels and trees without results.
double forecast_step_s(const KernelInfo& kernel, const Status& status, std::span<const Result> results);
/// Returns the expected time of one evaluation in s, by kernel id, for every kernel with a known time.
std::map<std::string, double, std::less<>> evaluation_times(std::span<const KernelPtr> kernels, const Status& status,
                                                            std::span<const Result> results);

/// Collects the times of frames, which become known some frames later, for the window's statistics and the recording.
class FrameLog {
 public:
  /// Records that frame `frame` has started steps of `status`.
  void started(std::int64_t frame, const Status& status);
  void add(const StepTiming& timing);
  /// Starts a period, see StepStatistics::begin_period(). Batches in flight do not belong to it.
  void begin_period();
  void add_draw(render::GpuTime time);
  /// Logs a frame. Call at its end, which is the start of the next. Reads only gui_ms to frame_ms of `times`. Returns
  /// one line if the recording has failed.
  std::string ended(std::int64_t frame, int steps, const Status& status, const ViewStatus& view,
                    const FrameTimes& times, std::chrono::steady_clock::time_point end);

  /// Starts a recording, see Recorder::open().
  std::string start_recording(const std::string& file, const Json& metadata, Existing existing);
  /// Ends the recording. Returns one line if the file is incomplete.
  std::string stop_recording();
  /// If `hold`, writes no rows for new frames until called with false. Rows already added still get their times.
  void hold_rows(bool hold) { rows_held_ = hold; }
  bool recording() const { return recorder_.active(); }
  /// Returns the file name of conserved quantities, see ConservedLog::file().
  const std::string& conserved_file() const { return conserved_.file(); }

  StepStatistics& statistics() { return statistics_; }
  const StepStatistics& statistics() const { return statistics_; }
  /// Fills in times, step statistics and the state of the recording.
  void describe(ViewStatus& view, const Status& present) const;

 private:
  struct Started {
    std::int64_t frame;
    Trial trial;
    StepWork work;
    bool of_period = true;  // false: started before begin_period()
  };

  std::string ended_by(std::string error);
  std::optional<ForceError> new_error(const Status& status);

  Recorder recorder_;
  ConservedLog conserved_;
  std::optional<ForceProbe> seen_probe_;
  std::string recording_error_;
  bool rows_held_ = false;
  StepStatistics statistics_;
  std::deque<Started> started_;  // batches that are not measured yet
  StepTiming timing_;            // latest known times
  FrameTimes times_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery
