#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

/// A text file of our own making, open for writing. What is written is in the hands of the system at once: a kill of
/// the program loses nothing of it. A file that is empty in the end is removed. Move-only.
class OutputFile {
 public:
  /// Creates `path`, or the first numbered_path() that does not exist; a device or pipe is opened as it is. Throws
  /// std::runtime_error that names the path and the cause.
  static OutputFile create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// The name that the file got.
  const std::string& path() const { return path_; }
  /// Whether replace_tail() can go back: false for a device or a pipe.
  bool rewritable() const { return rewritable_; }
  std::int64_t size() const { return size_; }

  /// Each returns an empty text, or one line that names the file and the cause. A write that fails leaves the whole
  /// lines that fitted.
  [[nodiscard]] std::string append(std::string_view text);
  /// Puts `text` in place of everything from byte `at` <= size() on. Needs rewritable() unless at == size().
  [[nodiscard]] std::string replace_tail(std::int64_t at, std::string_view text);

 private:
  OutputFile(int descriptor, std::string path, bool rewritable);

  int descriptor_ = -1;
  std::string path_;
  bool rewritable_ = false;
  std::int64_t size_ = 0;
};

}  // namespace orrery
