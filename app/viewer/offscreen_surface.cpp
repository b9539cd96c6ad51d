#include "app/viewer/offscreen_surface.h"

#include <glad/gl.h>

#include "app/viewer/picture_size.h"

namespace orrery {

OffscreenSurface::OffscreenSurface(WindowSize size, bool panel)
    : size_{allowed_size(size, panel ? least_window : WindowSize{1, 1}, context_.info())},
      target_{GL_RGBA8, size_.width, size_.height} {}

/// Nothing swaps here, so the commands are sent on their way; or a driver might gather many frames before it starts.
void OffscreenSurface::present() {
  glFlush();
}

}  // namespace orrery
