#include "app/recording/unique_path.h"

#include <filesystem>

namespace orrery {

std::string numbered_path(const std::string& path, int number) {
  if (number == 0) return path;
  std::filesystem::path numbered{path};
  const std::string stem = numbered.stem().string(), extension = numbered.extension().string();
  return numbered.replace_filename(stem + "-" + std::to_string(number) + extension).string();
}

std::string unique_path(const std::string& path) {
  for (int number = 0;; ++number) {
    std::string candidate = numbered_path(path, number);
    std::error_code unreadable;  // a folder that cannot be looked into: whoever opens the file says so
    if (!std::filesystem::exists(std::filesystem::symlink_status(candidate, unreadable))) return candidate;
  }
}

std::string new_output(const std::string& name) {
  const std::filesystem::path folder = "orrery-out";
  std::error_code cannot;  // the writer names the cause
  std::filesystem::create_directories(folder, cannot);
  return unique_path((folder / name).string());
}

}  // namespace orrery
