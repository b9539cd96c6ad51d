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
/// Visible rectangle of a widget, valid before ImGui::Render(). In ImGui's display coordinates: on X11, pixels of the
/// window.
struct UiRect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Records the rectangle of ImGui's last item as `name` or `group.item`, if any part is visible. Tests use it to click
/// as a user would. Costs one look-up.
void ui_mark(std::string_view name);
void ui_mark(std::string_view group, std::string_view item);

/// Returns the rectangle of `name` in the current frame; all zero if it is not visible.
UiRect ui_marked(std::string_view name);

/// Returns the names of the current frame's marked widgets that are cut off at the left or right, sorted by name.
std::vector<std::string> ui_cut_off();

/// Returns the marked widgets of the current frame, sorted by name, as lines of `NAME X0 Y0 X1 Y1`. Names may contain
/// blanks.
std::string ui_layout();

/// Whether a section is open, and whether the user chose so.
struct Fold {
  bool open;
  bool chosen = false;
};

/// State of the sections, by id.
using Folds = std::map<std::string, Fold, std::less<>>;

/// Gives section() a place to store which sections are open, during this object's life. Without it, sections cannot be
/// folded.
class UseFolds {
 public:
  explicit UseFolds(Folds& folds);
  UseFolds(const UseFolds&) = delete;
  UseFolds& operator=(const UseFolds&) = delete;
  ~UseFolds();
};

void text(std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Draws text that ends at `right` in the window's coordinates.
void text_to(float right, std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Returns `content` with line breaks, so that no line is wider than `width` pixels in the current font. Breaks at
/// blanks, but not between a number and its unit. Divides words that are too long.
std::string in_lines(std::string_view content, float width);

/// Draws `content` with the line breaks of in_lines().
void text_in_lines(std::string_view content, float width, ImU32 colour = theme::text,
                   theme::Font font = theme::Font::body);

/// Draws `content` in lines that fit into the remaining width of the window.
void wrapped_text(std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Shows a tooltip beside the mouse: `what`, and `more` dimmed below it.
void show_tooltip(std::string_view what, std::string_view more = {});

/// Shows a tooltip while the mouse rests on the last item, even a disabled one: `what`, and `more` dimmed below it.
void tooltip(std::string_view what, std::string_view more = {});

/// Adds an invisible area that can be pressed. Returns whether it was pressed. Sizes are >= 0. An empty area
/// is allowed; ImGui itself would abort.
bool hit_area(const char* id, ImVec2 size);

/// Returns whether the section `id` is open, as of the last call of section(), which handles clicks.
bool is_open(const char* id, bool open_at_first);

/// Draws the head of a collapsible section, marked as `section.ID`. `remark` is dimmed, at the right end; `reserved`
/// pixels of the line are left for other widgets. Returns whether the section is open. UseFolds stores that.
bool section(const char* id, const char* title, bool open_at_first, std::string_view remark = {}, float reserved = 0);

/// Draws an arrow that shows or hides the content below it, marked as `id`. Returns whether it was pressed.
bool fold_button(const char* id, bool folded, ImVec2 size);

/// Returns `content`, or its beginning with an ellipsis so that it fits into `width` pixels of the current font.
std::string shortened(std::string_view content, float width);

/// Calls ImGui::BeginCombo with a plain arrow, marked as `id`. If `preview` is too long, shows `brief` or a shortened
/// text, with the whole in a tooltip. Esc closes the list.
bool begin_combo(const char* id, const std::string& preview, int flags = 0, const std::string& brief = {});

/// Draws the label of a row. The next item fills the rest of the line, except `reserved` pixels at its end.
void row_label(const char* label, std::string_view notes, float reserved = 0);

/// Draws the label of a row, marked as `id.label`, with a dot after it if `marked`. Returns whether it was
/// double-clicked.
bool marked_label(const char* id, const char* label, std::string_view notes, bool marked);

/// Returns whether the current window was double-clicked in this rectangle, even if the first click opened a list over
/// it. Ends a drag or other action that the first click began.
bool double_clicked(ImVec2 low, ImVec2 high);

/// Draws a one-line text entry, marked as `id`: `hint` while it is empty, red if `refused`. Returns whether Enter ended
/// it.
bool text_field(const char* id, const char* hint, std::string& content, bool refused = false);

/// Draws a button in the accent colour, for the main action of a group.
bool accent_button(const char* label, ImVec2 size = {});

enum class Icon { run, pause, step, restart, reset, record, stop };

/// Draws a button with an icon before its label, marked as `id`.
bool icon_button(const char* id, Icon icon, const char* label, ImVec2 size, bool accented = false);

/// Draws a small rounded label.
void pill(std::string_view label, ImU32 colour);

/// Draws an arc that rotates with time.
void spinner(ImU32 colour);

/// ImGui::SliderScalar over `span`, filled up to the value instead of a handle, which would cover the text.
template <class T>  // float or int
bool filled_slider(const char* label, T& value, const Range<T>& span, const char* format, int flags);

/// Draws a logarithmic slider over `span`, marked as `id`; Ctrl+click types a number. Returns a value other than
/// `current` while the slider is dragged or when an entry ends. A double click returns `own`.
template <class T>  // float or int
std::optional<T> log_slider(const char* id, T current, const Range<T>& span, const char* format,
                            std::optional<T> own = std::nullopt);

/// Draws a measurement's progress: a bar for `share`, 0 to 1, with `words` in it, marked as `ID.progress`; a Stop
/// button, marked as `ID.stop`; and `present`, the item being measured, below. Returns whether Stop was pressed.
bool progress_row(const char* id, float share, const std::string& words, std::string_view present);

/// Lists the files that a measurement wrote, and `error`, marked as `ID.error`, if not empty.
void written_rows(const char* id, std::span<const std::string> files, std::string_view error);

}  // namespace orrery
