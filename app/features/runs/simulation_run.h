// Runs without a window: their schedule, their diagnostics, and the run itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/features/runs/snapshot_series.h"
#include "app/recording/output_file.h"
#include "app/recording/run_checkpoint.h"
#include "app/text/csv.h"
#include "compute/sim/command.h"
#include "compute/sim/results.h"
#include "compute/sim/simulation.h"

namespace orrery {

/// The steps of a run: the last one, and those with outputs, which have numbers from 0 on.
class RunSchedule {
 public:
  /// Plans the steps from the state `now`. Its own outputs may be due: an earlier run could not write them. Throws
  /// UsageError for an order that cannot be met from there.
  RunSchedule(const Status& now, const RunOrder& order, bool outputs_due);

  std::int64_t last_step() const { return last_step_; }
  bool has_outputs() const { return event_steps_ > 0; }
  /// The number of the outputs that a run has last had at `step`.
  std::int64_t latest_event(std::int64_t step) const;
  /// The next step after `step` with outputs, or the last one.
  std::int64_t next_event(std::int64_t step) const;
  /// The number of the outputs that belong to `step`; none: it has no outputs. The last step has some in any case.
  std::optional<std::int64_t> event_at(std::int64_t step) const;

 private:
  std::int64_t step_of(std::int64_t event) const;

  std::int64_t last_step_ = 0;
  double event_steps_ = 0;  // between outputs; 0: there are none
};

/// Change of the total energy.
struct EnergyChange {
  double relative = 0;
  std::int64_t since_step = 0;
};

/// A CSV file of a run's conserved sums, Lagrangian radii about the centre of mass, and a checksum of the state, with
/// which runs can be compared bit by bit.
class DiagnosticsLog {
 public:
  /// A new file, made with its first row. Throws std::runtime_error, one line.
  DiagnosticsLog(const std::string& file, const Json& metadata, Existing existing);
  /// Continues the file of the run `id`: keeps what it had at `place`. Follows no symbolic link. Throws also if it is
  /// shorter now, or if belongs_to_run() is false.
  DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place, const std::string& id);

  /// Throws std::runtime_error, one line that names the file, if it cannot be written.
  void add(const ConservedProbe& probe, const Bodies& bodies);

  const std::string& file() const { return file_.path(); }
  /// Change from the first row of the file to the last; none before this run has written one.
  std::optional<EnergyChange> energy_change() const { return energy_change_; }
  /// None before the first row.
  std::optional<DiagnosticsPlace> place() const;

 private:
  std::string begin_;  // what the file gets before its next row
  OutputFile file_;
  std::optional<double> first_energy_;
  std::int64_t first_step_ = 0;  // of the row with the first energy
  std::optional<EnergyChange> energy_change_;
};

/// Throws std::runtime_error, one line, if the run `id` cannot continue its file of diagnostics at this place.
void require_rows(const std::string& file, const DiagnosticsPlace& place, const std::string& id);

/// Whether the file begins with the header of diagnostics that the run `id` writes: one with "run": id; for a run
/// without an id, one without "run".
bool belongs_to_run(const std::string& file, const std::string& id);

/// A snapshot, diagnostics or the last checkpoint could not be written. The state is whole: a checkpoint continues the
/// run.
struct OutputFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs a simulation to the end of an order, and writes what the order asks for on the way.
class SimulationRun {
 public:
  struct Outputs {
    Existing existing = Existing::keep;             ///< of a new file of diagnostics
    Json metadata{};                                ///< of that file
    std::string id{};                               ///< see RunRecord; that file has it, too
    std::optional<DiagnosticsPlace> diagnostics{};  ///< of a run that continues its file
    bool continues_snapshots = false;               ///< in the folder that the run had before
    std::optional<SnapshotMark> snapshot{};         ///< the latest before
    bool due = false;                               ///< those of the step at which this one begins could not be written
  };
  struct Progress {
    std::int64_t step, last_step;
    double sim_time;
    std::optional<double> left_s;  ///< unknown before the first batch has ended
  };
  struct Summary {
    std::int64_t steps = 0;   ///< of this run
    double steps_s = 0;       ///< computing them took, measurements and files left out
    double interactions = 0;  ///< in them
    std::optional<EnergyChange> energy{};
    int snapshots = 0, checkpoints = 0;
    std::string problem{};  ///< one line: why a checkpoint could not be written, though the run continued; else empty
  };

  /// `simulation` must outlive this. Throws UsageError for an order that cannot be met from its current state.
  SimulationRun(Simulation& simulation, const RunOrder& order, const Outputs& outputs);

  /// Runs to the end, or until `stop` returns true. Calls `stop`, and `show` with the progress, some hundred times per
  /// second. Returns whether the end was reached. Throws std::runtime_error where a body is not finite or a device
  /// fails, and OutputFailure.
  ///
  /// First removes the snapshots of later steps that the folder has: see first_new_snapshot().
  bool run(const std::function<bool()>& stop, const std::function<void(const Progress&)>& show);
  /// Writes the order's checkpoint. Throws std::runtime_error, one line; the last ones are then as they were.
  void write_checkpoint(const std::string& file);

  /// Whether the run is at the last step and has written all its outputs. No run continues from here, except to a later
  /// end.
  bool is_complete() const { return simulation_.status().step >= last_step() && !outputs_due_; }
  std::int64_t last_step() const { return schedule_.last_step(); }
  Summary summary() const;
  /// The number of the first snapshot that a run with these outputs writes from the state `now` on.
  static std::int64_t first_new_snapshot(const Status& now, const RunSchedule& schedule, const Outputs& outputs);
  /// Empty before the first row.
  std::string diagnostics_file() const { return log_ ? log_->file() : std::string{}; }

 private:
  using Clock = std::chrono::steady_clock;

  void write_row(const Bodies& bodies);
  /// Throws OutputFailure.
  void write_outputs(std::int64_t event, bool row, bool snapshot);
  void write_first_outputs();
  void write_numbered(std::int64_t event);
  void run_batch(std::int64_t end, const std::function<bool()>& stop, const std::function<void(const Progress&)>& show);
  void take_in(const StepTiming& batch);
  void write_checkpoint_in_time();
  /// Throws OutputFailure.
  void write_last_checkpoint();
  Progress progress() const;

  Simulation& simulation_;
  const RunOrder order_;
  const std::filesystem::path folder_;  // the working folder, which may vanish during the run
  const RunSchedule schedule_;
  const std::string id_;
  const std::optional<SnapshotSeries> series_;  // none: no snapshots are asked for
  const std::int64_t first_new_snapshot_;
  const bool continues_snapshots_;
  std::optional<SnapshotMark> snapshot_;  // the latest
  bool outputs_due_;                      // those of the current step
  std::optional<DiagnosticsPlace> place_before_outputs_{};
  std::optional<DiagnosticsLog> log_;
  Summary summary_;
  Clock::time_point last_checkpoint_ = Clock::now();
};

}  // namespace orrery
