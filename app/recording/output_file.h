// Text files that grow while the program runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compute/core/atomic_file.h"

namespace orrery {

/// A text file that grows while the program runs. Written text is given to the system immediately, so that a killed
/// program loses none of it. The file appears, as an AtomicFile does, with the first write. Move-only.
class OutputFile {
 public:
  /// Prepares the file, or opens the stream. Throws std::runtime_error that names the path and the cause.
  static OutputFile create(const std::string& path, Existing existing = Existing::keep);
  OutputFile(OutputFile&& other) = default;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// Returns the name that the file got with the first write.
  const std::string& path() const { return path_; }
  /// Returns whether replace_tail() can overwrite earlier text: false for a stream.
  bool rewritable() const { return rewritable_; }
  std::int64_t size() const { return size_; }

  /// Appends `text`. Like replace_tail(), returns an empty text, or one line that names the file and the cause. After a
  /// failed write, the file ends with the last whole line that fitted.
  [[nodiscard]] std::string append(std::string_view text);
  /// Replaces everything from byte `at` <= size() on by `text`. Requires rewritable() unless at == size().
  [[nodiscard]] std::string replace_tail(std::int64_t at, std::string_view text);

  /// Returns one line if the path no longer names this file; otherwise an empty text.
  [[nodiscard]] std::string lost() const;

 private:
  OutputFile() = default;
  std::string begin(std::string_view text);

  std::unique_ptr<AtomicFile> pending_;  // the file before the first write; null afterwards
  Descriptor descriptor_;
  std::string path_;
  bool rewritable_ = false;
  std::int64_t size_ = 0;
};

/// Returns the path of `name` in orrery-out, the folder for files that the user did not name; creates the folder if
/// needed. The caller must not replace an existing file.
std::string new_output(const std::string& name);

}  // namespace orrery
