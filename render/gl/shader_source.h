#pragma once

#include <string>
#include <string_view>

namespace orrery::render {

/// Text of a file in shaders/: the embedded copy, or in a development build (CMake: ORRERY_DEVELOPMENT) the file as it
/// is now. A line `#include "other.glsl"` is replaced by that file. Throws std::runtime_error for an unknown name.
std::string shader_source(std::string_view file);

}  // namespace orrery::render
