// Snapshot formats: descriptors, functions that read and write any format, and the byte order of numbers.
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
  const struct SnapshotFormat* format = nullptr;  ///< null: chosen by the ending of the file name
};

/// Units that a format permits.
enum class UnitRule {
  any,       ///< any units; G = 1 if the file states none
  gravity,   ///< units of length and mass, with G = 1
  galactic,  ///< nearly galactic_units, which its readers assume
};

/// Descriptor of a file format; each is defined in its own source file. `read` and `write` throw std::runtime_error
/// with one line that names the file and the cause.
struct SnapshotFormat {
  const char* id;
  const char* title;
  std::array<std::string_view, 4> endings;  ///< file name endings of this format, with dots
  std::string_view companion{};             ///< ending of a second file that belongs to this one; empty: none
  struct Holds {                            ///< data besides positions that a file can hold
    bool masses = true, velocities = false, time = false, ids = false;
    bool species = false;     ///< distinguishes gas, dark and star
    bool components = false;  ///< also distinguishes disc, bulge and boundary
    bool softening = false, temperature = false, metals = false, formation_time = false;
    bool units = false;
    /// The file holds temperatures of gas, metals of gas and stars, and formation times of stars only.
    bool properties_by_species = false;
    bool beside = false;         ///< ids and units are in separate files, so a stream loses them
    bool low_words = false;      ///< low parts of positions and velocities
    bool frame = false;          ///< coordinates in double, or the origin that was subtracted from them
    bool scale_factors = false;  ///< formation times as scale factors
  } holds;
  bool groups_species = false;  ///< bodies are written grouped by species
  UnitRule units = UnitRule::gravity;
  bool takes_columns = false;    ///< accepts SnapshotHints::columns
  bool takes_state = false;      ///< accepts SnapshotHints::state
  bool takes_cosmology = false;  ///< the reader uses take_meaning()
  /// Returns whether a file of `size` bytes may have this format. `head`: its first bytes, at most
  /// SnapshotInput::head_bytes.
  bool (*detect)(std::span<const std::byte> head, std::uint64_t size);
  /// Reads a file. All numbers are finite. read_any_snapshot() then calls settle(), and notes or refuses masses of 0.
  Snapshot (*read)(SnapshotInput& input);
  /// Writes as AtomicFile does. Returns the names of the files, the snapshot's first. All bodies must be finite, in
  /// units that `units` permits.
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

/// Reads a file, whose content decides the format. Throws UsageError if the format does not accept one of the hints.
/// Otherwise throws std::runtime_error with one line that names the file and the cause, such as: missing, empty,
/// unknown format, damaged, no bodies, unusable values, no masses, more bodies than fit into memory at `bytes_per_body`
/// each.
ReadSnapshot read_any_snapshot(const std::filesystem::path& file, const SnapshotHints& hints = {},
                               std::int64_t bytes_per_body = file_bytes_per_body);
inline Snapshot read_snapshot(const std::filesystem::path& file, const SnapshotHints& hints = {},
                              std::int64_t bytes_per_body = file_bytes_per_body) {
  return read_any_snapshot(file, hints, bytes_per_body).snapshot;
}

struct WrittenSnapshot {
  std::vector<std::filesystem::path> files;  ///< names of the written files, the snapshot's first
  std::vector<std::string> lost{};           ///< data that the format could not hold, such as "ids"
  bool reordered = false;                    ///< bodies were reordered by species
  std::string converted{};                   ///< the file's units, if numbers were converted; else empty
  /// Returns lost, reordered and converted as one line; empty if the file holds the snapshot unchanged.
  std::string remark() const;
  const std::filesystem::path& file() const { return files.front(); }
};

/// Writes in output.format, or in the format named by the ending of `file`, in units that the format permits. Throws
/// std::runtime_error that names the file and the cause, such as the first body that is not finite.
WrittenSnapshot write_snapshot(const std::filesystem::path& file, const SnapshotView& snapshot,
                               const SnapshotOutput& output = {});
inline WrittenSnapshot write_snapshot(const std::filesystem::path& file, const Snapshot& snapshot,
                                      const SnapshotOutput& output = {}) {
  return write_snapshot(file, view_of(snapshot), output);
}
/// Does the same, but converts units in place, which saves a copy.
WrittenSnapshot write_snapshot(const std::filesystem::path& file, Snapshot&& snapshot,
                               const SnapshotOutput& output = {});

/// Returns the names of the snapshot's data that the format cannot hold, such as "ids"; empty if it holds everything.
std::vector<std::string> left_out(const SnapshotFormat& format, const SnapshotView& snapshot);

}  // namespace orrery
