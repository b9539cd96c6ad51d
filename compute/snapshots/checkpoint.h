#pragma once

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

/// The state of a run, with which it goes on bit for bit. Its file holds everything that a Snapshot can hold; its
/// layout is in docs/usage/runs.md.
struct Checkpoint {
  Snapshot snapshot{};
  HermiteState hermite{};  ///< of as many bodies as the snapshot, with their masses; or empty
  std::int64_t step = 0;   ///< whole steps since the scene's first state
  std::string setup{};     ///< what else a run needs, in the words of its writer; empty: the file is a snapshot alone
};

/// Summary from the beginning of a checkpoint's file.
struct CheckpointHead {
  std::uint64_t bodies = 0;
  double time = 0;
  std::string setup{};
};
/// Reads no bodies and checks no checksum. Throws as read_checkpoint().
CheckpointHead read_checkpoint_head(const std::filesystem::path& file);

/// Throws std::runtime_error with one line that names the file and the cause: not a checkpoint, of a newer version,
/// truncated, oversized, a checksum that does not match, a body that cannot be stepped.
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// Writes the bytes of a checkpoint. All bodies are finite. The caller commits `out`.
void write_checkpoint(AtomicFile& out, const CheckpointParts& checkpoint);
/// Writes as AtomicFile does and returns the name that the file got. All bodies are finite.
std::filesystem::path write_checkpoint(const std::filesystem::path& file, const CheckpointParts& checkpoint,
                                       Existing existing);
inline std::filesystem::path write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint,
                                              Existing existing) {
  const SnapshotView view = view_of(checkpoint.snapshot);
  return write_checkpoint(file, CheckpointParts{view, checkpoint.hermite, checkpoint.step, checkpoint.setup}, existing);
}

/// Returns the checksum of the bits of all positions, masses and velocities: runs with equal checksums went the same
/// way.
std::uint32_t checksum(const Bodies& bodies);

}  // namespace orrery
