#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "compute/core/atomic_file.h"
#include "compute/core/bodies.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// References to everything that write_checkpoint() writes.
struct CheckpointParts {
  const SnapshotView& snapshot;
  const HermiteState& hermite;
  std::int64_t step;
  const std::string& setup;
};

/// State from which a run continues bit for bit, with everything in a Snapshot. docs/usage/runs.md describes the file's
/// layout.
struct Checkpoint {
  Snapshot snapshot{};
  HermiteState hermite{};  ///< the same bodies and masses as in `snapshot`, or no bodies
  std::int64_t step = 0;   ///< whole steps since the scene's initial state
  std::string setup{};     ///< everything else that a run needs, as the writer's text; empty: only a snapshot
};

/// Summary of a checkpoint, from the header and setup of its file.
struct CheckpointHead {
  std::uint64_t bodies = 0;
  double time = 0;
  std::string setup{};
};
/// Reads only the header and the setup. Does not verify the checksum. Throws like read_checkpoint().
CheckpointHead read_checkpoint_head(const std::filesystem::path& file);

/// Reads a checkpoint. Throws std::runtime_error with one line that names the file and the cause, such as: not a
/// checkpoint, another version, truncated, oversized, a wrong checksum, a body with unusable values.
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// Writes a checkpoint to `out`, which the caller commits. All body values must be finite.
void write_checkpoint(AtomicFile& out, const CheckpointParts& checkpoint);
/// Writes a checkpoint as AtomicFile does and returns the name of the file. All body values must be finite.
std::filesystem::path write_checkpoint(const std::filesystem::path& file, const CheckpointParts& checkpoint,
                                       Existing existing);
inline std::filesystem::path write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint,
                                              Existing existing) {
  const SnapshotView view = view_of(checkpoint.snapshot);
  return write_checkpoint(file, CheckpointParts{view, checkpoint.hermite, checkpoint.step, checkpoint.setup}, existing);
}

/// Returns the CRC-32 of all earlier bytes and these. `checksum`: CRC-32 of the earlier bytes; 0 if there are none.
std::uint32_t next_checksum(std::uint32_t checksum, const std::byte* bytes, std::size_t size);

/// Returns the CRC-32 of all positions, masses and velocities, including low parts. Runs in the same state have equal
/// values.
std::uint32_t checksum(const Bodies& bodies);

}  // namespace orrery
