#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compute/core/atomic_file.h"
#include "compute/snapshots/snapshot_input.h"

namespace orrery {

/// The CRC-32 of what `checksum` is of and these bytes behind it; 0 is that of nothing.
inline std::uint32_t next_checksum(std::uint32_t checksum, const std::byte* bytes, std::size_t size) {
  if (size == 0) return checksum;  // zlib takes a null pointer for a new beginning
  return static_cast<std::uint32_t>(crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes), size));
}

/// Reads a file in order and keeps its checksum.
class CheckedInput {
 public:
  static constexpr std::size_t values_at_once = 65536;

  explicit CheckedInput(SnapshotInput& input) : input_{input} {}

  void read(std::byte* to, std::size_t size) {
    input_.read(to, size);
    checksum_ = next_checksum(checksum_, to, size);
    position_ += size;
  }
  /// Calls take(i, bytes of value i) for `count` values of `width` bytes.
  template <class Take>
  void read_values(std::uint64_t count, std::size_t width, Take take) {
    std::vector<std::byte> block(std::min<std::uint64_t>(values_at_once, count) * width);
    for (std::uint64_t first = 0; first < count; first += values_at_once) {
      const std::uint64_t here = std::min<std::uint64_t>(values_at_once, count - first);
      read(block.data(), here * width);
      for (std::uint64_t i = 0; i < here; ++i) take(first + i, &block[i * width]);
    }
  }
  std::uint32_t checksum() const { return checksum_; }
  std::uint64_t position() const { return position_; }
  SnapshotInput& file() { return input_; }

 private:
  SnapshotInput& input_;
  std::uint32_t checksum_ = 0;
  std::uint64_t position_ = 0;
};

/// Writes a file in order and keeps its checksum.
class CheckedOutput {
 public:
  static constexpr std::size_t values_at_once = CheckedInput::values_at_once;

  explicit CheckedOutput(AtomicFile& out) : out_{out} {}

  void write(std::string_view bytes) {
    checksum_ = next_checksum(checksum_, reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    out_.write(bytes);
  }
  void write(const std::vector<std::byte>& bytes) {
    write(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  /// Calls put(i, place of value i) for `count` values of `width` bytes.
  template <class Put>
  void write_values(std::size_t count, std::size_t width, Put put) {
    std::vector<std::byte> block;
    for (std::size_t first = 0; first < count; first += values_at_once) {
      const std::size_t here = std::min(values_at_once, count - first);
      block.resize(here * width);
      for (std::size_t i = 0; i < here; ++i) put(first + i, &block[i * width]);
      write(block);
    }
  }
  std::uint32_t checksum() const { return checksum_; }

 private:
  AtomicFile& out_;
  std::uint32_t checksum_ = 0;
};

}  // namespace orrery
