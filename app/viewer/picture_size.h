#pragma once

#include "app/ui_state/window_size.h"
#include "render/gl/gl.h"

namespace orrery {

/// `asked`, if it is at least `least` and OpenGL can draw it; throws UsageError, one line, otherwise.
WindowSize allowed_size(WindowSize asked, WindowSize least, const render::GlInfo& gl);

/// least_window on a display of `scale` (1 = 96 dots per inch).
WindowSize least_window_at(float scale);

}  // namespace orrery
