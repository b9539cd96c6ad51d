#pragma once

#include <span>
#include <string_view>

namespace orrery::render {

/// A file that was compiled into the program, by orrery_embed() of cmake/OrreryEmbed.cmake.
struct EmbeddedFile {
  std::string_view name;  ///< without its folder
  std::string_view bytes;
};

std::span<const EmbeddedFile> embedded_shaders();

}  // namespace orrery::render
