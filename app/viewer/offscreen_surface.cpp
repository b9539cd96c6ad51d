#include "app/viewer/offscreen_surface.h"

#include <glad/gl.h>

namespace orrery {

OffscreenSurface::OffscreenSurface(WindowSize size, bool panel)
    : size_{allowed_size(size, panel ? least_window : least_picture, context_.info())},
      target_{GL_RGBA8, size_.width, size_.height} {}

/// Flushes: without a swap, a driver might collect the commands of many frames before it starts.
void OffscreenSurface::present() {
  glFlush();
}

}  // namespace orrery
