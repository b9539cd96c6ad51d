#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/process.h"
#include "compute/core/vec.h"
#include "compute/snapshots/snapshot.h"

namespace orrery {

struct Snapshot;

/// Reader of a regular file. Every failure throws a std::runtime_error that names the file and the cause.
class SnapshotInput {
 public:
  static constexpr std::size_t head_bytes = 512;

  /// Opens a file. Throws if it is missing, not a regular file, empty or not readable. `bytes_per_body`: see
  /// require_room_for().
  explicit SnapshotInput(const std::filesystem::path& file, const SnapshotHints& hints = {},
                         std::int64_t bytes_per_body = file_bytes_per_body);

  const std::filesystem::path& path() const { return file_; }
  const SnapshotHints& hints() const { return hints_; }
  std::uint64_t size() const { return size_; }      ///< in bytes
  std::uint64_t offset() const { return offset_; }  ///< offset of the next byte
  std::uint64_t remaining() const { return size_ - offset_; }
  /// Returns the first bytes, up to head_bytes.
  std::span<const std::byte> head() const { return head_; }
  /// Reads the next `size` bytes. The first call starts at the file's first byte.
  void read(std::byte* to, std::size_t size);
  /// Continues reading at this byte offset, at most size().
  void seek(std::uint64_t byte);
  /// Stores how the file encodes numbers, such as "big-endian", for display. The format's reader calls it.
  void set_encoding(std::string encoding) { encoding_ = std::move(encoding); }
  const std::string& encoding() const { return encoding_; }
  /// Throws if there are too many bodies for this program, or for the free memory at `bytes_per_body` each.
  void require_room_for(std::uint64_t bodies) const;
  [[noreturn]] void fail(const std::string& cause) const;
  /// Throws with the place of the fault: "byte 268, POS: a position that is not finite".
  [[noreturn]] void fail_at(std::uint64_t byte, const std::string& field, const std::string& cause) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path file_;
  SnapshotHints hints_;
  std::int64_t bytes_per_body_;
  std::uint64_t size_ = 0, offset_ = 0;
  std::string encoding_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::vector<std::byte> head_;
};

/// Rounds to single precision. A finite number beyond its range becomes the largest float, which unusable() reports as
/// too large.
float single_precision(double value);

/// Returns why a property of a body cannot be used, such as "not finite"; empty if it can.
std::string unusable_property(double value);

/// Returns why these numbers cannot be a body: not finite, or a mass below 0. Empty if they can. A mass of 0 marks a
/// test particle, which feels gravity but exerts none. settle() checks SnapshotLimits later, after converting units.
std::string no_body(const Vec3d& position, double mass, const Vec3d& velocity);
/// Does the same for a body of a snapshot. Checks only those of its position, velocity and mass whose argument is true.
std::string no_body(const Snapshot& snapshot, std::size_t body, bool place, bool velocity, bool mass);

/// Returns why a body cannot be used in a run: no_body() refuses it, or it exceeds SnapshotLimits. Empty if it can.
std::string unusable(const Vec4& position, const Vec4& velocity);

/// Gives all bodies equal masses, 1 in total, and adds a note. Used for files without masses.
void give_equal_masses(Snapshot& snapshot);

}  // namespace orrery
