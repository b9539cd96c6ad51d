#pragma once

#include <filesystem>

namespace orrery {

/// Where Mesa keeps compiled shaders; empty if nothing names a place.
std::filesystem::path shader_cache_folder();

/// Whether a file of some MB can be written in the folder, or where the folder would be made. Leaves nothing behind.
bool can_cache_in(std::filesystem::path folder);

/// Call before OpenGL starts and no other thread runs: switches Mesa's cache off if its folder cannot take it. Mesa
/// maps its index into memory, and a full disk under that is a SIGBUS.
void check_shader_cache();

}  // namespace orrery
