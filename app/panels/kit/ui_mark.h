#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The part of a widget that can be seen in the frame before Render, in ImGui's display coordinates: pixels of the
/// window on X11.
struct UiRect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Notes where ImGui's last item is, as `name` or `group.item`, if any of it can be seen. For tests that click as a
/// person would; costs a look-up.
void ui_mark(std::string_view name);
void ui_mark(std::string_view group, std::string_view item);

/// The rectangle of `name` in the present frame; all zero when it is not on the screen.
UiRect ui_marked(std::string_view name);

/// The marked widgets of the present frame that are cut off at their left or right, in the order of their names.
std::vector<std::string> ui_cut_off();

/// What the present frame shows: one `NAME X0 Y0 X1 Y1` a line, in the order of the names, which may hold blanks.
std::string ui_layout();

}  // namespace orrery
