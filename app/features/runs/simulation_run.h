// Runs without a window: their schedule, their diagnostics, and the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/recording/output_file.h"
#include "app/recording/run_checkpoint.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"
#include "compute/sim/results.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {

/// The snapshots of a run in a folder: snapshot_00000.tipsy, snapshot_00001.tipsy and so on.
class SnapshotSeries {
 public:
  /// Makes a series. `format` is an id; throws UsageError if it is unknown. The folder need not exist.
  SnapshotSeries(std::filesystem::path folder, const std::string& format);

  const std::filesystem::path& folder() const { return folder_; }
  const SnapshotFormat& format() const { return *format_; }
  std::filesystem::path file(std::int64_t number) const;
  /// Returns whether the file has the name of a snapshot. False for a snapshot's companion file.
  bool is_snapshot(const std::filesystem::path& file) const;
  /// Returns whether a snapshot of this series, or its companion file, could have this name.
  bool takes(const std::string& name) const;
  /// Returns the existing files of snapshots with numbers >= `number`; no links. Throws std::runtime_error, one line.
  std::vector<std::filesystem::path> files_from(std::int64_t number) const;
  /// Removes the files that files_from() returns. Throws std::runtime_error, one line.
  void remove_from(std::int64_t number) const;

  /// Returns the mark of a snapshot. Throws std::runtime_error, one line, if the file cannot be read.
  SnapshotMark mark_of(std::int64_t number) const;
  /// Returns whether the folder has the marked snapshot, unchanged.
  bool has(const SnapshotMark& mark) const;
  /// Returns whether the snapshot `file` has as many bodies as `bodies`, with the same shares of the total mass in any
  /// order. Distinguishes runs of different systems if there is no mark.
  static bool is_of_bodies(const std::filesystem::path& file, const Bodies& bodies);

 private:
  std::filesystem::path folder_;
  const SnapshotFormat* format_;
};

/// The steps of a run: the last one, and those with outputs. Outputs are numbered from 0.
class RunSchedule {
 public:
  /// Plans the steps from the state `now`. If `outputs_due`, the outputs of that state are missing, because an earlier
  /// run could not write them. Throws UsageError for an order that cannot be met from there.
  RunSchedule(const Status& now, const RunOrder& order, bool outputs_due);

  std::int64_t last_step() const { return last_step_; }
  bool has_outputs() const { return event_steps_ > 0; }
  /// Returns the number of the latest outputs at or before `step`.
  std::int64_t latest_event(std::int64_t step) const;
  /// Returns the next step after `step` with outputs, at most the last step.
  std::int64_t next_event(std::int64_t step) const;
  /// Returns the number of the outputs at `step`; none if it has none. If there are outputs, the last step has some.
  std::optional<std::int64_t> event_at(std::int64_t step) const;

 private:
  std::int64_t step_of(std::int64_t event) const;

  std::int64_t last_step_ = 0;
  double event_steps_ = 0;  // number of steps between outputs, not necessarily whole; 0: no outputs
};

/// Relative change of the total energy since a step.
struct EnergyChange {
  double relative = 0;
  std::int64_t since_step = 0;
};

/// A CSV file of a run's conserved sums, Lagrangian radii about the centre of mass, and a checksum of each state. The
/// checksums show whether two runs agree bit by bit.
class DiagnosticsLog {
 public:
  /// Prepares a new file, which is written with the first row. Throws std::runtime_error, one line.
  DiagnosticsLog(const std::string& file, const Json& metadata, Existing existing);
  /// Continues the file of the run `id` after `place`; drops later rows. Follows no symbolic link. Throws
  /// std::runtime_error if the file is shorter than that, or if belongs_to_run() is false.
  DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place, const std::string& id);

  /// Appends a row. Throws std::runtime_error, one line that names the file, if that fails.
  void add(const ConservedProbe& probe, const Bodies& bodies);

  const std::string& file() const { return file_.path(); }
  /// Returns the change from the first row of the file to the last; none before this object has written a later row.
  std::optional<EnergyChange> energy_change() const { return energy_change_; }
  /// Returns the end of the rows; none before the first row.
  std::optional<DiagnosticsPlace> place() const;

 private:
  std::string begin_;  // bytes to write before the next row
  OutputFile file_;
  std::optional<double> first_energy_;
  std::int64_t first_step_ = 0;  // step of the row with first_energy_
  std::optional<EnergyChange> energy_change_;
};

/// Throws std::runtime_error, one line, if the run `id` cannot continue its diagnostics file at `place`.
void require_rows(const std::string& file, const DiagnosticsPlace& place, const std::string& id);

/// Returns whether the file begins with the diagnostics header of the run `id`: its "run" equals `id`, or is missing if
/// `id` is empty.
bool belongs_to_run(const std::string& file, const std::string& id);

/// Thrown if a snapshot, diagnostics or the last checkpoint could not be written. The state is intact, so a checkpoint
/// can continue the run.
struct OutputFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a simulation to the end of an order, and writes the outputs of that order.
class SimulationRun {
 public:
  struct Outputs {
    Existing existing = Existing::keep;             ///< applies to a new diagnostics file
    Json metadata{};                                ///< metadata of a new diagnostics file
    std::string id{};                               ///< id of the run, see RunRecord; also in the diagnostics file
    std::optional<DiagnosticsPlace> diagnostics{};  ///< where the run continues its diagnostics file; none: new file
    bool continues_snapshots = false;               ///< snapshots go to the same folder as before
    std::optional<SnapshotMark> snapshot{};         ///< latest snapshot of the earlier run
    bool due = false;                               ///< the outputs of the first state could not be written before
  };
  struct Progress {
    std::int64_t step, last_step;
    double sim_time;
    std::optional<double> left_s;  ///< seconds; none before the first batch has ended
  };
  struct Summary {
    std::int64_t steps = 0;   ///< steps of this run
    double steps_s = 0;       ///< time of the steps alone, without measurements and files
    double interactions = 0;  ///< number of interactions in these steps
    std::optional<EnergyChange> energy{};
    int snapshots = 0, checkpoints = 0;
    std::string problem{};  ///< one line: why the latest checkpoint in the run could not be written; else empty
  };

  /// Prepares a run. `simulation` must outlive it. Throws UsageError if its state cannot meet the order.
  SimulationRun(Simulation& simulation, const RunOrder& order, const Outputs& outputs);

  /// Runs to the end, or until `stop` returns true; returns whether the end was reached. Calls `stop`, and `show` with
  /// the progress, some hundred times per second. Throws OutputFailure, and std::runtime_error if a body is not finite
  /// or a device fails.
  /// Before the first step, removes existing snapshots from first_new_snapshot() on.
  bool run(const std::function<bool()>& stop, const std::function<void(const Progress&)>& show);
  /// Writes the order's checkpoint to `file`. If that throws std::runtime_error, earlier checkpoints are unchanged.
  void write_checkpoint(const std::string& file);

  /// Returns whether the run is at the last step and has written all its outputs. Such a run continues only if it gets
  /// a later end.
  bool is_complete() const { return simulation_.status().step >= last_step() && !outputs_due_; }
  std::int64_t last_step() const { return schedule_.last_step(); }
  Summary summary() const;
  /// Returns the number of the first snapshot that a run with these outputs writes from the state `now` on.
  static std::int64_t first_new_snapshot(const Status& now, const RunSchedule& schedule, const Outputs& outputs);
  /// Returns the name of the diagnostics file; empty without one.
  std::string diagnostics_file() const { return log_ ? log_->file() : std::string{}; }

 private:
  using Clock = std::chrono::steady_clock;

  void write_row(const Bodies& bodies);
  /// Writes outputs. Throws OutputFailure.
  void write_outputs(std::int64_t event, bool row, bool snapshot);
  void write_first_outputs();
  void write_numbered(std::int64_t event);
  void run_batch(std::int64_t end, const std::function<bool()>& stop, const std::function<void(const Progress&)>& show);
  void take_in(const StepTiming& batch);
  void write_checkpoint_in_time();
  /// Writes the last checkpoint. Throws OutputFailure.
  void write_last_checkpoint();
  Progress progress() const;

  Simulation& simulation_;
  const RunOrder order_;
  const std::filesystem::path folder_;  // working folder at the start, which may vanish during the run
  const RunSchedule schedule_;
  const std::string id_;
  const std::optional<SnapshotSeries> series_;  // none: no snapshots are ordered
  const std::int64_t first_new_snapshot_;
  const bool continues_snapshots_;
  std::optional<SnapshotMark> snapshot_;  // mark of the latest snapshot
  bool outputs_due_;                      // the outputs of the current step are not written yet
  std::optional<DiagnosticsPlace> place_before_outputs_{};
  std::optional<DiagnosticsLog> log_;
  Summary summary_;
  Clock::time_point last_checkpoint_ = Clock::now();
};

}  // namespace orrery
