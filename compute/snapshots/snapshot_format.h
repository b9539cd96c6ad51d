// Snapshot formats: their descriptors, reading and writing in any of them, and the byte order of numbers.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/core/process.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

/// Byte order of the numbers in a binary file.
enum class ByteOrder { big, little };
constexpr const char* name_of(ByteOrder order) {
  return order == ByteOrder::big ? "big-endian" : "little-endian";
}

/// Loads and stores values of one byte order at any address.
class Bytes {
 public:
  explicit Bytes(ByteOrder order)
      : swap_{(order == ByteOrder::little) != (std::endian::native == std::endian::little)} {}

  std::uint16_t load16(const std::byte* at) const { return load<std::uint16_t>(at); }
  std::uint32_t load32(const std::byte* at) const { return load<std::uint32_t>(at); }
  std::uint64_t load64(const std::byte* at) const { return load<std::uint64_t>(at); }
  float load_float(const std::byte* at) const { return std::bit_cast<float>(load32(at)); }
  double load_double(const std::byte* at) const { return std::bit_cast<double>(load64(at)); }

  void store32(std::byte* at, std::uint32_t value) const { store(at, value); }
  void store64(std::byte* at, std::uint64_t value) const { store(at, value); }
  void store_float(std::byte* at, float value) const { store(at, std::bit_cast<std::uint32_t>(value)); }
  void store_double(std::byte* at, double value) const { store(at, std::bit_cast<std::uint64_t>(value)); }

 private:
  static std::uint16_t swapped(std::uint16_t v) { return __builtin_bswap16(v); }
  static std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }
  static std::uint64_t swapped(std::uint64_t v) { return __builtin_bswap64(v); }
  template <class Word>
  Word load(const std::byte* at) const {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return swap_ ? swapped(word) : word;
  }
  template <class Word>
  void store(std::byte* at, Word word) const {
    if (swap_) word = swapped(word);
    std::memcpy(at, &word, sizeof word);
  }

  bool swap_;
};

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
  std::array<std::string_view, 4> endings;  ///< endings by which write_snapshot() chooses this format, with dots
  std::string_view companion{};  ///< replaces the ending in the name of the file that accompanies this one; empty: none
  struct Holds {                 ///< data besides positions that a file can hold
    bool masses = true, velocities = false, time = false, ids = false;
    bool species = false;     ///< gas, dark and star
    bool components = false;  ///< disc, bulge and boundary apart from these
    bool softening = false, temperature = false, metals = false, formation_time = false;
    bool units = false;
    /// Temperature of gas, metals of gas and stars, formation time of stars alone.
    bool properties_by_species = false;
    bool beside = false;         ///< ids and units are in files next to it, which a stream does not have
    bool low_words = false;      ///< low words of positions and velocities
    bool frame = false;          ///< coordinates in double, or the origin that was subtracted from them
    bool scale_factors = false;  ///< formation times as scale factors
  } holds;
  bool groups_species = false;  ///< bodies are written by species
  UnitRule units = UnitRule::gravity;
  bool takes_columns = false;    ///< SnapshotHints::columns
  bool takes_state = false;      ///< SnapshotHints::state
  bool takes_cosmology = false;  ///< the reader uses take_meaning()
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

/// Returns all formats. The first one is used for names without a known ending.
std::span<const SnapshotFormat* const> snapshot_formats();
/// Returns the titles of all formats, separated by commas.
std::string snapshot_titles();
/// Returns whether this build has libhdf5.
bool has_hdf5();
/// Returns the format with this file name's ending; null if there is none.
const SnapshotFormat* format_named_by(const std::filesystem::path& file);

struct ReadSnapshot {
  Snapshot snapshot;
  const SnapshotFormat* format;
  std::string encoding;  ///< encoding of the file's numbers, such as "big-endian"
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
  std::vector<std::string> lost{};           ///< data that the format could not hold, such as "ids"
  bool reordered = false;                    ///< the file has the bodies in another order, by species
  std::string converted{};                   ///< the file's units, if numbers were converted; else empty
  /// Returns all of that in one line; empty if the file holds the snapshot unchanged.
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
