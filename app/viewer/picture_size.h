#pragma once

#include "app/ui_state/window_size.h"
#include "render/gl/gl.h"

namespace orrery {

/// `asked`, if it is at least `least` and OpenGL can draw it; throws UsageError, one line, otherwise.
WindowSize allowed_size(WindowSize asked, WindowSize least, const render::GlInfo& gl);

/// least_window on a display of `scale` (1 = 96 dots per inch).
WindowSize least_window_at(float scale);

/// That of the panels in a picture without a display, as of one that fills a display of 1920 x 1080 pixels: 1 up to
/// that size, 2 for 3840 x 2160.
float scale_of_picture(WindowSize size);

}  // namespace orrery
