#pragma once

#include "render/gl/gl.h"

namespace orrery::render {

/// A current OpenGL 4.5 core context without a window and without an X server: a GPU through EGL's device platform,
/// NVIDIA first, else Mesa's surfaceless platform, whose software renderer is always available. LIBGL_ALWAYS_SOFTWARE=1
/// chooses Mesa at once. There is no default framebuffer: draw into a RenderTarget. At most one per thread at a time.
class OffscreenContext {
 public:
  /// Loads GL, too. Throws std::runtime_error, one line, if EGL has no display or none gives OpenGL 4.5.
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
