#include "compute/core/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace orrery {

std::filesystem::path temporary_place() {
  std::error_code error;
  std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (!error) return place;
  const char* const named = std::getenv("TMPDIR");
  throw std::runtime_error(std::string{"no folder for temporary files: TMPDIR is '"} + (named ? named : "/tmp") +
                           "', which is no folder: name one that exists");
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (temporary_place() / "orrery-XXXXXX").string();
  if (!mkdtemp(name.data())) {
    const std::string cause = std::generic_category().message(errno);
    throw std::runtime_error("cannot make the temporary folder '" + name + "': " + cause);
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::filesystem::path& name, std::string_view text) const {
  const std::filesystem::path file = path_ / name;
  std::ofstream stream{file, std::ios::binary};
  stream << text << std::flush;
  if (!stream) throw std::runtime_error("cannot write " + file.string());
  return file;
}

}  // namespace orrery
