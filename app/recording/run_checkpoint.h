#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/text/csv.h"
#include "app/text/input_file.h"
#include "compute/core/atomic_file.h"
#include "compute/core/bodies.h"
#include "compute/core/text.h"
#include "compute/sim/command.h"
#include "compute/sim/simulation.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// Task of a run without a window. Steps are counted from the scene's initial state; the time starts as in its file.
struct RunOrder {
  std::optional<std::int64_t> steps{};  ///< number of the last step
  std::optional<double> until{};        ///< the run ends with the first step that reaches this time
  std::optional<double> every{};        ///< simulated time between snapshots and between rows of diagnostics
  std::string snapshots{};              ///< folder of the snapshots; empty: none are written
  std::string snapshot_format = "tipsy";
  std::string diagnostics{};  ///< name of the CSV file; empty: none
  std::string checkpoint{};   ///< name of the checkpoint; empty: one is written only if the run is stopped
  double checkpoint_every_s = 60;

  static constexpr Range<double> ends{-1e30, 1e30}, times{0, 1e30, "", true}, checkpoint_times{1, 1e6, "s"};

  friend bool operator==(const RunOrder&, const RunOrder&) = default;
};

/// Returns the order as JSON, without the name of the checkpoint, which is the file that will hold this JSON.
Json to_json(const RunOrder& order);
/// Returns the order in this JSON. Throws UsageError, one line, if to_json() could not have made it.
RunOrder run_order_of(const JsonObject& json);

/// Fingerprint of a snapshot that a run wrote. It identifies the run's folder: no other run writes the same bytes.
struct SnapshotMark {
  std::string name;            ///< file name in the folder, such as "snapshot_00004.tipsy"
  std::uint64_t bytes = 0;     ///< size of the file
  std::uint32_t checksum = 0;  ///< CRC-32 of the first and the last 64 KiB
  friend bool operator==(const SnapshotMark&, const SnapshotMark&) = default;
};

/// End of the rows that a run wrote to its diagnostics file.
struct DiagnosticsPlace {
  std::int64_t bytes = 0;  ///< size of the file; 0: the run starts the file again
  double first_energy = 0;
};

/// Contents of a checkpoint file except the bodies: the setup of a run and its order.
struct RunRecord {
  RunSetup setup;
  HermiteState hermite{};  ///< see Checkpoint
  std::int64_t step = 0;
  std::string id{};                 ///< see new_run_id(); empty if a window or an earlier version wrote the file
  std::optional<RunOrder> order{};  ///< none if a window wrote the file
  std::optional<DiagnosticsPlace> diagnostics{};
  std::optional<SnapshotMark> snapshot{};  ///< fingerprint of the run's latest snapshot
  bool outputs_due = false;                ///< the snapshot and diagnostics of this step could not be written
};

/// Complete contents of a checkpoint file.
struct RunCheckpoint : RunRecord {
  Snapshot state{};
};

/// Returns 16 random hexadecimal digits, by which a run recognizes its files. All its checkpoints have the same id.
std::string new_run_id();

/// Returns the current state of `simulation`. Cancels the running work, as Simulation::bodies() does.
RunCheckpoint checkpoint_of(Simulation& simulation);
/// Returns checkpoint_of() without the bodies.
RunRecord record_of(Simulation& simulation);

/// Returns whether the name ends in ".checkpoint", so that the file is to hold the run as well as its bodies.
bool is_checkpoint_name(const std::string& file);
/// Returns the order with the output names that the checkpoint `file` stores. Names in or below the file's folder
/// become relative to it, all others absolute. `working_folder` is the base of relative names if the current folder has
/// vanished.
RunOrder order_in_checkpoint(RunOrder order, const std::string& file, const std::filesystem::path& working_folder);

/// Writes a checkpoint as AtomicFile does, and returns the name that the file got.
std::string write_run_checkpoint(const std::string& file, const RunRecord& run, const SnapshotView& state,
                                 Existing existing);
inline std::string write_run_checkpoint(const std::string& file, const RunCheckpoint& checkpoint, Existing existing) {
  return write_run_checkpoint(file, checkpoint, view_of(checkpoint.state), existing);
}

/// Returns the name that keep_checkpoint() gives to the last checkpoint: "a.previous.checkpoint" for "a.checkpoint".
std::string previous_name(const std::string& file);

/// Writes the new checkpoint to `file`, and keeps the old one as previous_name(file). At every moment, `file` is one
/// whole checkpoint, the old or the new one. Replaces a symbolic link itself. Throws std::runtime_error, one line;
/// `file` is then unchanged.
void keep_checkpoint(const std::string& file, const RunRecord& run, const SnapshotView& state);
inline void keep_checkpoint(const std::string& file, const RunCheckpoint& checkpoint) {
  keep_checkpoint(file, checkpoint, view_of(checkpoint.state));
}

/// Renames a damaged checkpoint, so that it does not become the previous one, and returns the new name. Throws
/// std::runtime_error, one line.
std::string set_aside(const std::string& file);

/// Summary of a checkpoint file, without its bodies.
struct CheckpointSummary {
  SceneRequest scene{};
  std::uint64_t bodies = 0;
  double time = 0;  ///< simulated time
};
/// Returns the summary of a checkpoint file, without checking checksums. Throws what read_checkpoint_head() throws, and
/// std::runtime_error, one line, if the file has bodies but no run.
CheckpointSummary summary_of_checkpoint(const std::string& file);

struct FoundCheckpoint {
  /// The checkpoint, with output names usable from the current folder. Outputs in or below the checkpoint's folder have
  /// that folder before their names; all others have full names. In the order, `checkpoint` is the requested file.
  RunCheckpoint checkpoint;
  std::string note{};  ///< why the previous checkpoint is used; empty: `file` itself is used
  bool snapshots_elsewhere = false, diagnostics_elsewhere = false;  ///< true: outside the checkpoint's folder
};
/// Returns the checkpoint in `file` or, if that cannot be read, the previous one. Throws std::runtime_error, one line
/// that names the file and the cause.
FoundCheckpoint find_checkpoint(const std::string& file);

}  // namespace orrery
