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

/// A regular file that is being read. Every failure is a std::runtime_error that names the file and the cause.
class SnapshotInput {
 public:
  static constexpr std::size_t head_bytes = 512;

  /// Throws if the file is missing, no regular file, empty or not readable.
  /// `bytes_per_body`: see require_room_for().
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
  /// Continues reading at this byte, which must not be after the end.
  void seek(std::uint64_t byte);
  /// How the file holds numbers, such as "big-endian", for people. Set by its reader.
  void set_encoding(std::string encoding) { encoding_ = std::move(encoding); }
  const std::string& encoding() const { return encoding_; }
  /// Throws if that many bodies cannot be used, or do not fit into memory at `bytes_per_body` each.
  void require_room_for(std::uint64_t bodies) const;
  [[noreturn]] void fail(const std::string& cause) const;
  /// Names the place of the fault: "byte 268, POS: a position that is not finite".
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

/// Rounds to single precision. A finite number beyond its range becomes the largest one, so that unusable() calls it
/// too large.
float single_precision(double value);

/// Returns why a property of a body cannot be used, such as "not finite"; empty if it can.
std::string unusable_property(double value);

/// Returns why these numbers are not a body, such as "a mass below 0"; empty if they are. A mass of 0 marks a test
/// particle, which feels gravity and exerts none. settle() applies the limits of single precision later, in units that
/// suit the bodies.
std::string no_body(const Vec3d& position, double mass, const Vec3d& velocity);
/// Does the same for a body of a snapshot. Its place, velocity and mass are checked if the argument of that name is
/// true.
std::string no_body(const Snapshot& snapshot, std::size_t body, bool place, bool velocity, bool mass);

/// Returns why a body of a file cannot be stepped: see no_body(), or it is beyond SnapshotLimits. Empty if it can.
std::string unusable(const Vec4& position, const Vec4& velocity);

/// Gives all bodies equal masses, 1 in total, and notes it. Call for a file without masses.
void give_equal_masses(Snapshot& snapshot);

}  // namespace orrery
