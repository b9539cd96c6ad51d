#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/host_memory.h"
#include "compute/snapshots/bytes.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

class SnapshotInput;

struct SnapshotOutput {
  std::optional<ByteOrder> order{};  ///< empty: the format's usual one
  Existing existing = Existing::keep;
  const struct SnapshotFormat* format = nullptr;  ///< null: the one that the name's ending names
};

/// The units that a format's numbers may have.
enum class UnitRule {
  any,       ///< any; without units in the file, G = 1
  gravity,   ///< units of length and mass, with G = 1
  galactic,  ///< nearly galactic_units, which its readers assume
};

/// A file format's descriptor, one per file like the kernels. Formats throw std::runtime_error with one line that names
/// the file and the cause.
struct SnapshotFormat {
  const char* id;
  const char* title;
  std::array<std::string_view, 4> endings;  ///< of the file names that write_snapshot() gives this format, with dots
  std::string_view companion{};  ///< what takes its place in the name of a file that belongs to this one alone
  struct Holds {                 ///< what a file in this format can hold besides positions
    bool masses = true, velocities = false, time = false, ids = false;
    bool species = false;     ///< gas, dark and star
    bool components = false;  ///< disc, bulge and boundary apart from these
    bool softening = false, temperature = false, metals = false, formation_time = false;
    bool units = false;
    /// Temperature of gas, metals of gas and stars, formation time of stars alone.
    bool properties_by_species = false;
    bool beside = false;         ///< ids and units stand in files beside it, which a stream has not
    bool low_words = false;      ///< of positions and velocities
    bool frame = false;          ///< coordinates in double, or what was subtracted from them
    bool scale_factors = false;  ///< whether formation times are these
  } holds;
  bool groups_species = false;  ///< bodies are written by species
  UnitRule units = UnitRule::gravity;
  bool takes_columns = false;    ///< SnapshotHints::columns
  bool takes_state = false;      ///< SnapshotHints::state
  bool takes_cosmology = false;  ///< its reader uses take_meaning()
  /// Whether a file of `size` bytes may have this format. `head` is its first SnapshotInput::head_bytes bytes, or fewer
  /// if it is shorter.
  bool (*detect)(std::span<const std::byte> head, std::uint64_t size);
  /// Every body is finite and within SnapshotLimits. Its mass may be 0: read_any_snapshot() notes or refuses that.
  Snapshot (*read)(SnapshotInput& input);
  /// Writes as AtomicFile does and returns the names that the files got: the snapshot first, then what goes with it.
  /// All bodies are finite; the units are those of `units`.
  std::vector<std::filesystem::path> (*write)(const std::filesystem::path& file, const SnapshotView& snapshot,
                                              const SnapshotOutput& output);
};

/// All formats; the first is used for names without a known ending.
std::span<const SnapshotFormat* const> snapshot_formats();
/// Their titles, with commas between.
std::string snapshot_titles();
/// Whether this build has libhdf5.
bool has_hdf5();
/// The format of a file name's ending; null if no format has it.
const SnapshotFormat* format_named_by(const std::filesystem::path& file);

struct ReadSnapshot {
  Snapshot snapshot;
  const SnapshotFormat* format;
  std::string encoding;  ///< of the file's numbers, such as "big-endian"
};

/// Reads a file in any of the formats, which its content decides. Throws std::runtime_error with one line that names
/// the file and the cause: missing, empty, no known format (lists them), damaged, no bodies, a body that cannot be
/// stepped, no body with a mass, more bodies than fit into memory at `bytes_per_body` each; UsageError if the format
/// does not take one of the hints.
ReadSnapshot read_any_snapshot(const std::filesystem::path& file, const SnapshotHints& hints = {},
                               std::int64_t bytes_per_body = file_bytes_per_body);
inline Snapshot read_snapshot(const std::filesystem::path& file, const SnapshotHints& hints = {},
                              std::int64_t bytes_per_body = file_bytes_per_body) {
  return read_any_snapshot(file, hints, bytes_per_body).snapshot;
}

struct WrittenSnapshot {
  std::vector<std::filesystem::path> files;  ///< the names that they got, the snapshot's first
  std::vector<std::string> lost{};           ///< what the format could not hold, such as "ids"
  bool reordered = false;                    ///< bodies were not in the order of the file, which is by species
  std::string converted{};                   ///< in which units they were written, if numbers have changed; else empty
  /// All of that in one line; empty if the file holds the snapshot as it was.
  std::string remark() const;
  const std::filesystem::path& file() const { return files.front(); }
};

/// Writes in the format that the ending of `file` names, in units that the format has. Throws std::runtime_error that
/// names the file and the cause, such as the first body that is not finite.
WrittenSnapshot write_snapshot(const std::filesystem::path& file, const SnapshotView& snapshot,
                               const SnapshotOutput& output = {});
inline WrittenSnapshot write_snapshot(const std::filesystem::path& file, const Snapshot& snapshot,
                                      const SnapshotOutput& output = {}) {
  return write_snapshot(file, view_of(snapshot), output);
}
/// Converts the snapshot itself where the format has other units, so that there is no copy.
WrittenSnapshot write_snapshot(const std::filesystem::path& file, Snapshot&& snapshot,
                               const SnapshotOutput& output = {});

/// Lists what the format cannot hold of `snapshot`, such as "ids"; empty if it holds everything.
std::vector<std::string> left_out(const SnapshotFormat& format, const SnapshotView& snapshot);

}  // namespace orrery
