#include "app/recording/new_output.h"

#include <filesystem>

namespace orrery {

std::string new_output(const std::string& name) {
  const std::filesystem::path folder = "orrery-out";
  std::error_code cannot;  // the writer names the cause
  std::filesystem::create_directories(folder, cannot);
  return (folder / name).string();
}

}  // namespace orrery
