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

/// The state from which a run continues bit for bit. Its file holds everything that a Snapshot can hold; its
/// layout is in docs/usage/runs.md.
struct Checkpoint {
  Snapshot snapshot{};
  HermiteState hermite{};  ///< has the snapshot's bodies with their masses, or is empty
  std::int64_t step = 0;   ///< whole steps since the scene's first state
  std::string setup{};     ///< text of the writer with everything else that a run needs; empty: a snapshot alone
};

/// Summary from the beginning of a checkpoint's file.
struct CheckpointHead {
  std::uint64_t bodies = 0;
  double time = 0;
  std::string setup{};
};
/// Reads the beginning of a file, without bodies and without a check of the checksum. Throws as read_checkpoint().
CheckpointHead read_checkpoint_head(const std::filesystem::path& file);

/// Reads a checkpoint. Throws std::runtime_error with one line that names the file and the cause: not a checkpoint, of
/// a newer version, truncated, oversized, a checksum that does not match, a body that cannot be stepped.
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

/// Returns the CRC-32 of earlier bytes, whose CRC-32 is `checksum`, followed by these. The CRC-32 of no bytes is 0.
std::uint32_t next_checksum(std::uint32_t checksum, const std::byte* bytes, std::size_t size);

/// Returns the checksum of the bits of all positions, masses and velocities. Runs with equal checksums have equal
/// states.
std::uint32_t checksum(const Bodies& bodies);

}  // namespace orrery
