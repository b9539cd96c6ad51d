#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace orrery {

/// Returns the system's folder for temporary files: $TMPDIR, or /tmp. If it is no folder, throws std::runtime_error
/// with one line that names it.
inline std::filesystem::path temporary_place() {
  std::error_code error;
  std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (!error) return place;
  const char* const named = std::getenv("TMPDIR");
  throw std::runtime_error(std::string{"no folder for temporary files: TMPDIR is '"} + (named ? named : "/tmp") +
                           "', which is no folder: name one that exists");
}

/// New private folder among the system's temporary files. The destructor removes it with its files.
class TemporaryFolder {
 public:
  /// Makes the folder. Throws std::runtime_error if that fails.
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

inline TemporaryFolder::TemporaryFolder() {
  std::string name = (temporary_place() / "orrery-XXXXXX").string();
  if (!mkdtemp(name.data())) {
    const std::string cause = std::generic_category().message(errno);
    throw std::runtime_error("cannot make the temporary folder '" + name + "': " + cause);
  }
  path_ = name;
}

inline TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

inline std::filesystem::path TemporaryFolder::write(const std::filesystem::path& name, std::string_view text) const {
  const std::filesystem::path file = path_ / name;
  std::ofstream stream{file, std::ios::binary};
  stream << text << std::flush;
  if (!stream) throw std::runtime_error("cannot write " + file.string());
  return file;
}

}  // namespace orrery
