#include "app/viewer/offscreen_surface.h"

#include <glad/gl.h>

namespace orrery {

OffscreenSurface::OffscreenSurface(WindowSize size) : target_{GL_RGBA8, size.width, size.height} {}

/// Nothing swaps here, so the commands are sent on their way; or a driver might gather many frames before it starts.
void OffscreenSurface::present() {
  glFlush();
}

}  // namespace orrery
