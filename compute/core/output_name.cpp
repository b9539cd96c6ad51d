#include "compute/core/output_name.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace orrery {
namespace {

/// Whether the link belongs to this user or to the owner of its folder, or its folder is not shared.
bool may_follow(const std::filesystem::path& link) {
  struct stat own {};
  struct stat folder {};
  const std::filesystem::path parent = link.has_parent_path() ? link.parent_path() : std::filesystem::path{"."};
  if (lstat(link.c_str(), &own) != 0 || stat(parent.c_str(), &folder) != 0) return true;  // opening it reports why
  constexpr mode_t shared = S_ISVTX | S_IWOTH;
  return (folder.st_mode & shared) != shared || own.st_uid == geteuid() || own.st_uid == folder.st_uid;
}

}  // namespace

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
    if (!may_follow(path)) break;
    path = path.parent_path() / std::filesystem::read_symlink(path, none);
  }
  return path;
}

}  // namespace orrery
