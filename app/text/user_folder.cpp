#include "app/text/user_folder.h"

#include <cstdlib>

namespace orrery {
namespace {

std::filesystem::path full_path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::filesystem::path path{value ? value : ""};
  return path.is_absolute() ? path : std::filesystem::path{};
}

}  // namespace

std::filesystem::path user_folder(const char* variable, const char* in_home) {
  std::filesystem::path folder = full_path_in(variable);
  if (!folder.empty()) return folder;
  folder = full_path_in("HOME");
  return folder.empty() ? folder : folder / in_home;
}

std::filesystem::path usual_state_folder() {
  const std::filesystem::path folder = user_folder("XDG_STATE_HOME", ".local/state");
  return folder.empty() ? folder : folder / "orrery";
}

}  // namespace orrery
