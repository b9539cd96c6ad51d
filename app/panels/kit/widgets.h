#pragma once

#include <imgui.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/kit/theme.h"
#include "compute/core/text.h"

namespace orrery {
/// Visible rectangle of a widget, in ImGui's display coordinates (on X11: pixels). Valid before ImGui::Render().
struct UiRect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Sets a test mark: records the rectangle of ImGui's last item as `name` or `group.item`, if any part is visible.
/// Tests use the rectangle to click as a user would. Costs one look-up.
void ui_mark(std::string_view name);
void ui_mark(std::string_view group, std::string_view item);

/// Returns the rectangle of the test mark `name` in the current frame; all zero if it is not visible.
UiRect ui_marked(std::string_view name);

/// Returns the names of the current frame's test marks whose widgets are cut off at the left or right, sorted by name.
std::vector<std::string> ui_cut_off();

/// Returns the test marks of the current frame, by name, as lines of `NAME X0 Y0 X1 Y1`. Names may contain blanks.
std::string ui_layout();

/// State of a collapsible section.
struct Fold {
  bool open;
  bool chosen = false;
};

/// State of the sections, by id.
using Folds = std::map<std::string, Fold, std::less<>>;

/// Makes section() store the open sections in `folds` during this object's life. Without it, sections cannot be folded.
class UseFolds {
 public:
  explicit UseFolds(Folds& folds);
  UseFolds(const UseFolds&) = delete;
  UseFolds& operator=(const UseFolds&) = delete;
  ~UseFolds();
};

void text(std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Draws text whose right end is at `right`, in the window's coordinates.
void text_to(float right, std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Returns `content` with line breaks, so that no line is wider than `width` pixels in the current font. Breaks at
/// blanks, but not between a number and its unit. Breaks a word only if it is wider than a line.
std::string in_lines(std::string_view content, float width);

/// Draws `content` with the line breaks of in_lines().
void text_in_lines(std::string_view content, float width, ImU32 colour = theme::text,
                   theme::Font font = theme::Font::body);

/// Draws `content` in lines that fit into the remaining width of the window.
void wrapped_text(std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Shows a tooltip beside the mouse: `what`, and `more` in the dim colour below.
void show_tooltip(std::string_view what, std::string_view more = {});

/// Shows a tooltip while the mouse rests on the last item, even a disabled one: `what`, and `more` in the dim colour.
void tooltip(std::string_view what, std::string_view more = {});

/// Adds an invisible area that can be pressed. Returns whether it was pressed. Sizes are >= 0. An empty area is
/// allowed, although ImGui's own function aborts on one.
bool hit_area(const char* id, ImVec2 size);

/// Returns whether the section `id` was open at the last call of section(), which handles clicks.
bool is_open(const char* id, bool open_at_first);

/// Draws the head of a collapsible section, with `remark` in the dim colour at its right end. `reserved` pixels of the
/// line stay free for other widgets. Returns whether the section is open. Test mark: `section.ID`.
bool section(const char* id, const char* title, bool open_at_first, std::string_view remark = {}, float reserved = 0);

/// Draws an arrow that shows or hides the content below. Returns whether it was pressed. Test mark: `id`.
bool fold_button(const char* id, bool folded, ImVec2 size);

/// Returns `content`, or its beginning and an ellipsis that together fit into `width` pixels of the current font.
std::string shortened(std::string_view content, float width);

/// Calls ImGui::BeginCombo with a plain arrow. If `preview` is too long, shows `brief` or a shortened text, and
/// `preview` in a tooltip. Esc closes the list. Test mark: `id`.
bool begin_combo(const char* id, const std::string& preview, int flags = 0, const std::string& brief = {});

/// Draws the label of a row. The next item fills the rest of the line, except `reserved` pixels at its end.
void row_label(const char* label, std::string_view notes, float reserved = 0);

/// Draws the label of a row, with a dot if `marked`. Returns whether it was double-clicked. Test mark: `id.label`.
bool marked_label(const char* id, const char* label, std::string_view notes, bool marked);

/// Returns whether the current window was double-clicked in this rectangle, even if the first click opened a list on
/// top. If so, ends the drag or other action that the first click began.
bool double_clicked(ImVec2 low, ImVec2 high);

/// Draws a one-line text entry. Shows `hint` while it is empty, and red if `refused`. Returns whether Enter was
/// pressed. Test mark: `id`.
bool text_field(const char* id, const char* hint, std::string& content, bool refused = false);

/// Draws a button in the accent colour, for the main action of a group.
bool accent_button(const char* label, ImVec2 size = {});

enum class Icon { run, pause, step, restart, reset, record, stop };

/// Draws a button with an icon before its label. Test mark: `id`.
bool icon_button(const char* id, Icon icon, const char* label, ImVec2 size, bool accented = false);

/// Draws a small rounded label.
void pill(std::string_view label, ImU32 colour);

/// Draws a rotating arc that shows that work is in progress.
void spinner(ImU32 colour);

/// Draws an ImGui::SliderScalar that is filled up to the value. ImGui's handle would cover the text.
template <class T>  // float or int
bool filled_slider(const char* label, T& value, const Range<T>& span, const char* format, int flags);

/// Draws a logarithmic slider over `span`; Ctrl+click types a number. Returns a new value while the slider is dragged
/// or when an entry ends. A double click returns `own`. Test mark: `id`.
template <class T>  // float or int
std::optional<T> log_slider(const char* id, T current, const Range<T>& span, const char* format,
                            std::optional<T> own = std::nullopt);

/// Draws the progress of a measurement: a bar filled to `share`, 0 to 1, with `words` in it, and a Stop button. Draws
/// `present`, the current item, below. Returns whether Stop was pressed. Test marks: `ID.progress`, `ID.stop`.
bool progress_row(const char* id, float share, const std::string& words, std::string_view present);

/// Lists the files that a measurement wrote, and `error` if it is not empty. Test mark of the error: `ID.error`.
void written_rows(const char* id, std::span<const std::string> files, std::string_view error);

}  // namespace orrery
