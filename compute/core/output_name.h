#pragma once

#include <filesystem>

namespace orrery {

/// What happens to an existing file when an output is given its name.
enum class Existing {
  keep,     ///< the output takes the first free numbered_path()
  replace,  ///< the output replaces it, unless it is read-only
};

/// `path` with "-NUMBER" before its extension: "runs/a.csv" and 2 give "runs/a-2.csv"; `path` itself for 0.
std::filesystem::path numbered_path(const std::filesystem::path& path, int number);

/// Where the symbolic links at `path` lead. The file there may be missing.
std::filesystem::path followed(std::filesystem::path path);

}  // namespace orrery
