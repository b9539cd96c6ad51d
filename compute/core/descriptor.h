// File descriptors, locks and streams.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace orrery {

/// Owner of a file descriptor. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  /// Takes ownership of descriptor `number`; negative: none.
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Creates a file if needed, and locks it until the returned descriptor is closed: against other processes and other
/// calls. If the file is locked already, waits if `wait`, otherwise returns nothing. Returns an empty descriptor if the
/// file cannot be locked, as on a read-only disk.
std::optional<Descriptor> locked_file(const std::filesystem::path& path, bool wait);

/// Largest number of symbolic links through which a path may lead, as in the Linux kernel.
inline constexpr int most_symbolic_links = 40;

/// Returns "cannot write 'a.csv': No space left on device". The cause is a text or a value of errno.
std::string cannot_write(const std::filesystem::path& file, const std::string& cause);
std::string cannot_write(const std::filesystem::path& file, int error);

/// Returns N if `path` leads to descriptor N of this process, as /dev/stdout, /dev/fd/N and "-" (standard output) do.
std::optional<int> own_descriptor(std::filesystem::path path);

/// Returns whether output to this path goes directly to a device, a pipe or a descriptor of this process.
bool is_stream(const std::filesystem::path& path);

/// Opens a stream for write_all(). Waits for the reader of a pipe until a stop is requested. Throws std::runtime_error.
Descriptor open_stream(const std::filesystem::path& path);

/// Checks that a stream may be written, without opening it. Throws std::runtime_error.
void check_stream(const std::filesystem::path& path);

/// Checks that an existing file may be written: a read-only one is refused, even for root. Throws std::runtime_error.
void check_writable(const std::filesystem::path& path);

/// Writes all of `text` to a descriptor. Returns the cause of a failure; empty on success. Waits for the reader of a
/// pipe, but at most 2 s after a stop was requested.
[[nodiscard]] std::string write_all(int descriptor, std::string_view text);

}  // namespace orrery
