#pragma once

#include <string>

namespace orrery {

/// Notes where the widget drawn last lies, so that a test can aim a real mouse at it. Does nothing unless the
/// environment variable ORRERY_UI_LAYOUT names a file. `name` has no spaces, such as "kernel/cpu-simd" or "set/block".
void ui_mark(const char* name);
void ui_mark(const std::string& name);

/// Once a frame, after the last widget: writes the frame's marks to the file that ORRERY_UI_LAYOUT names, at most five
/// times a second and whole or not at all. One line a mark: `name x0 y0 x1 y1`, in window coordinates, clipped widgets
/// left out.
void write_ui_marks();

}  // namespace orrery
