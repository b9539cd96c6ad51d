// Text files that grow while the program runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compute/core/atomic_file.h"

namespace orrery {

/// A text file that grows while the program runs. What is written is in the hands of the system at once: a kill of the
/// program loses nothing of it. The file appears, as AtomicFile's do, with the first write. Move-only.
class OutputFile {
 public:
  /// Throws std::runtime_error that names the path and the cause.
  static OutputFile create(const std::string& path, Existing existing = Existing::keep);
  OutputFile(OutputFile&& other) = default;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  /// The name that the file got with the first write.
  const std::string& path() const { return path_; }
  /// Whether replace_tail() can go back: false for a stream.
  bool rewritable() const { return rewritable_; }
  std::int64_t size() const { return size_; }

  /// Each returns an empty text, or one line that names the file and the cause. A write that fails leaves the whole
  /// lines that fitted.
  [[nodiscard]] std::string append(std::string_view text);
  /// Puts `text` in place of everything from byte `at` <= size() on. Needs rewritable() unless at == size().
  [[nodiscard]] std::string replace_tail(std::int64_t at, std::string_view text);

  /// One line if the name no longer leads to this file; else an empty text.
  [[nodiscard]] std::string lost() const;

 private:
  OutputFile() = default;
  std::string begin(std::string_view text);

  std::unique_ptr<AtomicFile> pending_;  // until the first write
  Descriptor descriptor_;
  std::string path_;
  bool rewritable_ = false;
  std::int64_t size_ = 0;
};

/// `name` in the folder for files without a given name, orrery-out, which is made if it is missing. An existing file of
/// that name must be kept.
std::string new_output(const std::string& name);

}  // namespace orrery
