#pragma once

namespace orrery::render {

/// Where a frame goes: a framebuffer (0 is the window) and its size in pixels, or a part of it.
struct Canvas {
  unsigned framebuffer = 0;
  int width = 0;
  int height = 0;
  unsigned texture = 0;  ///< GL_RGBA8, of the framebuffer; 0: the window has none
  int left = 0;          ///< where the part begins, in pixels
};

}  // namespace orrery::render
