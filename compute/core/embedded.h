#pragma once

#include <string_view>

namespace orrery {

/// A file of the sources that was compiled into the program, by orrery_embed() of cmake/OrreryEmbed.cmake.
struct SourceFile {
  std::string_view name;  ///< its path from the top folder
  std::string_view bytes;
};

}  // namespace orrery
