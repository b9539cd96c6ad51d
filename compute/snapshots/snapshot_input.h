#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/core/vec.h"

namespace orrery {

/// A regular file that is being read. Every failure is a std::runtime_error that names the file and the cause.
class SnapshotInput {
 public:
  static constexpr std::size_t head_bytes = 512;

  /// Throws if the file is missing, no regular file, empty or not readable.
  explicit SnapshotInput(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return file_; }
  std::uint64_t size() const { return size_; }  ///< in bytes
  /// The first bytes, up to head_bytes.
  std::span<const std::byte> head() const { return head_; }
  /// The next `size` bytes; the first call starts at the file's first byte.
  void read(std::byte* to, std::size_t size);
  /// Throws if so many bodies cannot be used or do not fit into memory.
  void require_room_for(std::uint64_t bodies) const;
  [[noreturn]] void fail(const std::string& cause) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path file_;
  std::uint64_t size_ = 0;
  std::unique_ptr<std::FILE, Close> stream_;
  std::vector<std::byte> head_;
};

/// Why a body cannot be stepped, such as "a mass that is not positive"; empty if it can be.
std::string unusable(const Vec4& position, const Vec4& velocity);

/// "1 byte", "7 bytes"
std::string plural(std::uint64_t number, const char* noun);

}  // namespace orrery
