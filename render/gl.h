#pragma once

#include <glad/gl.h>

#include <string>

namespace orrery::render {

/// What the current context says of itself.
struct GlInfo {
  std::string vendor, renderer, version;
  int max_side = 0;  ///< of what it draws, in pixels
};

using GlFunction = void (*)();
using GlLoader = GlFunction (*)(const char* name);  ///< such as glfwGetProcAddress or eglGetProcAddress

/// Loads the functions of the current context; nothing of render/ works before. Throws std::runtime_error where the
/// context is under OpenGL 4.5, naming the version found.
GlInfo load_gl(GlLoader loader);

}  // namespace orrery::render
