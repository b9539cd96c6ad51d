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

/// The order of a run without a window. Steps are counted from the scene's first state. The time starts at that of the
/// file.
struct RunOrder {
  std::optional<std::int64_t> steps{};  ///< ends after this step
  std::optional<double> until{};        ///< ends with the first step that reaches this time
  std::optional<double> every{};        ///< time between snapshots and between rows of diagnostics
  std::string snapshots{};              ///< their folder; empty: none are written
  std::string snapshot_format = "tipsy";
  std::string diagnostics{};  ///< a CSV file; empty: none
  std::string checkpoint{};   ///< empty: one is written only if the run is stopped
  double checkpoint_every_s = 60;

  static constexpr Range<double> ends{-1e30, 1e30}, times{0, 1e30, "", true}, checkpoint_times{1, 1e6, "s"};

  friend bool operator==(const RunOrder&, const RunOrder&) = default;
};

/// All but the name of the checkpoint, which is the name of the file that holds this JSON.
Json to_json(const RunOrder& order);
/// Throws UsageError, one line, for what to_json() would not make.
RunOrder run_order_of(const JsonObject& json);

/// Mark of a snapshot that a run wrote. It identifies the run's folder: no other run has written the same bytes.
struct SnapshotMark {
  std::string name;            ///< in the folder, "snapshot_00004.tipsy"
  std::uint64_t bytes = 0;     ///< of the file
  std::uint32_t checksum = 0;  ///< CRC-32 of its first and its last 64 KiB
  friend bool operator==(const SnapshotMark&, const SnapshotMark&) = default;
};

/// Where the rows of a run's diagnostics ended.
struct DiagnosticsPlace {
  std::int64_t bytes = 0;  ///< of the file; 0: the run begins its file again
  double first_energy = 0;
};

/// Contents of a checkpoint file besides the bodies: how a run was computed and what it was asked for.
struct RunRecord {
  RunSetup setup;
  HermiteState hermite{};  ///< see Checkpoint
  std::int64_t step = 0;
  std::string id{};                 ///< see new_run_id(); empty: a window or an earlier version wrote it
  std::optional<RunOrder> order{};  ///< none: a window wrote it
  std::optional<DiagnosticsPlace> diagnostics{};
  std::optional<SnapshotMark> snapshot{};  ///< the run's latest
  bool outputs_due = false;                ///< the snapshot and the diagnostics of its step could not be written
};

/// A checkpoint file in full.
struct RunCheckpoint : RunRecord {
  Snapshot state{};
};

/// 16 random hexadecimal digits, by which a run recognizes its files. All its checkpoints have the same.
std::string new_run_id();

/// The current state of `simulation`; cancels what is in flight as Simulation::bodies() does.
RunCheckpoint checkpoint_of(Simulation& simulation);
/// The same without the bodies.
RunRecord record_of(Simulation& simulation);

/// Whether a file of this name is to hold the run as well as its bodies.
bool is_checkpoint_name(const std::string& file);
/// The order with the names of outputs as a checkpoint `file` holds them: relative to the file's folder for outputs in
/// or below it, otherwise from the root. `working_folder` is that of relative names, also if it has vanished.
RunOrder order_in_checkpoint(RunOrder order, const std::string& file, const std::filesystem::path& working_folder);

/// Writes as AtomicFile does and returns the name that the file got.
std::string write_run_checkpoint(const std::string& file, const RunRecord& run, const SnapshotView& state,
                                 Existing existing);
inline std::string write_run_checkpoint(const std::string& file, const RunCheckpoint& checkpoint, Existing existing) {
  return write_run_checkpoint(file, checkpoint, view_of(checkpoint.state), existing);
}

/// The name under which the checkpoint before the last is kept: "a.previous.checkpoint" for "a.checkpoint".
std::string previous_name(const std::string& file);

/// Writes the new checkpoint to `file`, and keeps the old one as previous_name(file). At every moment, `file` is one of
/// the two, whole. Follows no symbolic link. Throws std::runtime_error, one line; `file` is then as it was.
void keep_checkpoint(const std::string& file, const RunRecord& run, const SnapshotView& state);
inline void keep_checkpoint(const std::string& file, const RunCheckpoint& checkpoint) {
  keep_checkpoint(file, checkpoint, view_of(checkpoint.state));
}

/// Gives a checkpoint that cannot be read another name, which it returns, so that it does not become the previous one.
std::string set_aside(const std::string& file);

/// Summary of a checkpoint file, without its bodies.
struct CheckpointSummary {
  SceneRequest scene{};
  std::uint64_t bodies = 0;
  double time = 0;  ///< simulated
};
/// Throws std::runtime_error, one line, as read_checkpoint_head(), and for bodies alone. Checks no checksum.
CheckpointSummary summary_of_checkpoint(const std::string& file);

struct FoundCheckpoint {
  /// The checkpoint. In its order, `checkpoint` is the file that was asked for. Outputs in the folder of the checkpoint
  /// or below it have that folder in front of their names; all others have their full names.
  RunCheckpoint checkpoint;
  std::string note{};  ///< why it is the one of previous_name(); empty: it is the last
  bool snapshots_elsewhere = false, diagnostics_elsewhere = false;  ///< neither in the checkpoint's folder nor below it
};
/// The checkpoint of `file`, or the previous one where that cannot be read. Throws std::runtime_error, one line that
/// names the file and the cause.
FoundCheckpoint find_checkpoint(const std::string& file);

}  // namespace orrery
