#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compute/core/descriptor.h"
#include "compute/core/output_name.h"

namespace orrery {

/// A text file that grows while the program runs. What is written is in the hands of the system at once: a kill of the
/// program loses nothing of it. A file to which nothing was written is not left behind. Move-only.
class OutputFile {
 public:
  /// Creates `path`, or opens a stream. An existing file that is to be replaced keeps its content until the first
  /// write. Throws std::runtime_error that names the path and the cause.
  static OutputFile create(const std::string& path, Existing existing = Existing::keep);
  OutputFile(OutputFile&& other) = default;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// The name that the file got.
  const std::string& path() const { return path_; }
  /// Whether replace_tail() can go back: false for a stream.
  bool rewritable() const { return rewritable_; }
  std::int64_t size() const { return size_; }

  /// Each returns an empty text, or one line that names the file and the cause. A write that fails leaves the whole
  /// lines that fitted.
  [[nodiscard]] std::string append(std::string_view text);
  /// Puts `text` in place of everything from byte `at` <= size() on. Needs rewritable() unless at == size().
  [[nodiscard]] std::string replace_tail(std::int64_t at, std::string_view text);

 private:
  OutputFile(Descriptor descriptor, std::string path, bool rewritable, bool has_old_content);
  static OutputFile create_numbered(const std::string& path);
  static OutputFile open_over(const std::string& path);

  Descriptor descriptor_;
  std::string path_;
  bool rewritable_ = false;
  bool has_old_content_ = false;  // of the file that is to be replaced
  std::int64_t size_ = 0;
};

}  // namespace orrery
