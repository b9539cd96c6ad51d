#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace orrery {

/// The system's folder of temporary files: $TMPDIR, or /tmp. Throws std::runtime_error, one line that names it.
std::filesystem::path temporary_place();

/// A folder of one's own among the system's temporary files. It goes with its files.
class TemporaryFolder {
 public:
  /// Throws std::runtime_error if it cannot be made.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  /// Writes a file of this name and returns its path. Throws std::runtime_error if that fails.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace orrery
