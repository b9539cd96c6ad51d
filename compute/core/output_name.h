#pragma once

#include <filesystem>

namespace orrery {

/// What happens to an existing file when an output is given its name.
enum class Existing {
  keep,     ///< the output takes the first free numbered_path()
  replace,  ///< the output replaces it, unless it is read-only; a symbolic link is followed, for names that users give
  replace_here,  ///< as replace, but a symbolic link is replaced itself, for names that this program chooses
};

/// Whether an existing file is replaced, in whichever way.
constexpr bool replaces(Existing existing) {
  return existing != Existing::keep;
}

/// `path` with "-NUMBER" before its extension: "runs/a.csv" and 2 give "runs/a-2.csv"; `path` itself for 0.
std::filesystem::path numbered_path(const std::filesystem::path& path, int number);

/// Where the symbolic links at `path` lead. The file there may be missing. A link that another user has put into a
/// shared folder, such as /tmp, is not followed: its own path is returned. Linux protects open() by the same rule
/// (fs.protected_symlinks).
std::filesystem::path followed(std::filesystem::path path);

}  // namespace orrery
