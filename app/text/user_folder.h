#pragma once

#include <filesystem>

namespace orrery {

/// The folder that the environment variable `variable` names, or `in_home` in HOME. Empty if neither is a full path.
std::filesystem::path user_folder(const char* variable, const char* in_home);

/// orrery in $XDG_STATE_HOME, or in ~/.local/state. Empty if neither XDG_STATE_HOME nor HOME is a full path.
std::filesystem::path usual_state_folder();

}  // namespace orrery
