#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "compute/core/output_name.h"
#include "compute/snapshots/bytes.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

class SnapshotInput;

struct SnapshotOutput {
  ByteOrder order = ByteOrder::big;
  Existing existing = Existing::keep;
};

/// A file format's descriptor, one per file like the kernels. Formats throw std::runtime_error with one line that names
/// the file and the cause.
struct SnapshotFormat {
  const char* id;
  const char* title;
  const char* ending;  ///< of the file names that write_snapshot() gives this format, with its dot
  struct Holds {       ///< what a file in this format can hold besides masses and positions
    bool velocities = false, time = false, ids = false, species = false;
    bool softening = false, temperature = false, metals = false, formation_time = false;
  } holds;
  /// Whether a file may have this format. `head` is its first SnapshotInput::head_bytes bytes, or fewer if it is
  /// shorter.
  bool (*detect)(std::span<const std::byte> head);
  /// Every body is finite and within SnapshotLimits, with a mass above 0.
  Snapshot (*read)(SnapshotInput& input);
  /// Writes as AtomicFile does and returns the name that the file got. All bodies are finite.
  std::filesystem::path (*write)(const std::filesystem::path& file, const Snapshot& snapshot,
                                 const SnapshotOutput& output);
};

/// All formats; the first is used for names without a known ending.
std::span<const SnapshotFormat* const> snapshot_formats();
/// Their titles, with commas between.
std::string snapshot_titles();

/// Reads a file in any of the formats, which its content decides. Throws std::runtime_error with one line that names
/// the file and the cause: missing, empty, no known format (lists them), damaged, no bodies, a body that cannot be
/// stepped.
Snapshot read_snapshot(const std::filesystem::path& file);

struct WrittenSnapshot {
  std::filesystem::path file;  ///< the name that it got
  std::string left_out;        ///< see left_out()
};

/// Writes in the format that the ending of `file` names. Throws std::runtime_error that names the file and the cause,
/// such as the first body that is not finite.
WrittenSnapshot write_snapshot(const std::filesystem::path& file, const Snapshot& snapshot,
                               const SnapshotOutput& output = {});

/// What of `snapshot` the format cannot hold, such as "TIPSY cannot hold ids"; empty if it holds everything.
std::string left_out(const SnapshotFormat& format, const Snapshot& snapshot);

}  // namespace orrery
