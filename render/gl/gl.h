// OpenGL: its functions, facts about the current context, and a context without a window.
#pragma once

#include <glad/gl.h>

#include <string>
#include <string_view>

namespace orrery::render {

/// Facts about the current context.
struct GlInfo {
  std::string vendor, renderer, version;
  int max_side = 0;  ///< largest side of a picture, in pixels
};

using GlFunction = void (*)();
using GlLoader = GlFunction (*)(const char* name);  ///< returns a GL function by name, such as glfwGetProcAddress or
                                                    ///< eglGetProcAddress

/// Loads the functions of the current context. Call before anything else of render/. Throws std::runtime_error, which
/// names the version, if the context is older than OpenGL 4.5.
GlInfo load_gl(GlLoader loader);

/// Returns whether the current context has the extension, such as "GL_NV_gpu_shader5".
bool has_extension(std::string_view name);

/// Returns whether the driver has reset the current context. After a reset, nothing that was drawn is left, and nothing
/// more is drawn. Only a context that is lost on a reset notices.
bool context_was_reset();

/// Returns whether the current context draws on the CPU.
bool draws_in_software();

/// A current OpenGL 4.5 core context without a window and without an X server. It uses a GPU through EGL's device
/// platform, NVIDIA first, or else Mesa's surfaceless platform, whose software renderer is always available.
/// LIBGL_ALWAYS_SOFTWARE=1 chooses Mesa immediately. There is no default framebuffer: draw into a RenderTarget. At most
/// one context per thread at a time.
class OffscreenContext {
 public:
  /// Makes the context and loads GL. Throws std::runtime_error, one line, if no EGL display gives OpenGL 4.5.
  OffscreenContext();
  OffscreenContext(const OffscreenContext&) = delete;
  OffscreenContext& operator=(const OffscreenContext&) = delete;
  ~OffscreenContext();

  const GlInfo& info() const noexcept { return info_; }

 private:
  void* display_ = nullptr;  ///< EGLDisplay
  void* context_ = nullptr;  ///< EGLContext
  GlInfo info_;
};

}  // namespace orrery::render
