#pragma once

#include <glad/gl.h>

#include <string>
#include <string_view>

namespace orrery::render {

/// Facts about the current context.
struct GlInfo {
  std::string vendor, renderer, version;
  int max_side = 0;  ///< of what it draws, in pixels
};

using GlFunction = void (*)();
using GlLoader = GlFunction (*)(const char* name);  ///< such as glfwGetProcAddress or eglGetProcAddress

/// Loads the functions of the current context; call before anything else of render/. Throws std::runtime_error if
/// the context is older than OpenGL 4.5; it names the version.
GlInfo load_gl(GlLoader loader);

/// Whether the current context has the extension, such as "GL_NV_gpu_shader5".
bool has_extension(std::string_view name);

/// Whether the driver has reset the current context: nothing that was drawn is left, and nothing more is drawn. Only a
/// context that is lost on a reset notices.
bool context_was_reset();

/// Whether the current context draws on the CPU.
bool draws_in_software();

}  // namespace orrery::render
