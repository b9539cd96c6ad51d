#pragma once

#include <filesystem>

namespace orrery {

/// The folder that the environment variable `variable` names, or `in_home` in HOME. Empty if neither is a full path.
std::filesystem::path user_folder(const char* variable, const char* in_home);

}  // namespace orrery
