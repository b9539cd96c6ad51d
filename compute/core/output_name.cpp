#include "compute/core/output_name.h"

#include <string>

namespace orrery {

std::filesystem::path numbered_path(const std::filesystem::path& path, int number) {
  if (number == 0) return path;
  std::filesystem::path name = path.stem();
  name += '-';
  name += std::to_string(number);
  name += path.extension();
  return path.parent_path() / name;
}

std::filesystem::path followed(std::filesystem::path path) {
  constexpr int most_links = 40;  // as the kernel follows
  std::error_code none;
  for (int link = 0; link < most_links && std::filesystem::is_symlink(path, none); ++link) {
    path = path.parent_path() / std::filesystem::read_symlink(path, none);
  }
  return path;
}

}  // namespace orrery
