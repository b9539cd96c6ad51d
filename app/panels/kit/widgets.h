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
/// The part of a widget that can be seen in the frame before Render, in ImGui's display coordinates: pixels of the
/// window on X11.
struct UiRect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

/// Notes where ImGui's last item is, as `name` or `group.item`, if any of it can be seen. Tests use it to click as a
/// person would; costs a look-up.
void ui_mark(std::string_view name);
void ui_mark(std::string_view group, std::string_view item);

/// The rectangle of `name` in the current frame; all zero when it is not on the screen.
UiRect ui_marked(std::string_view name);

/// The marked widgets of the current frame that are cut off at their left or right, in the order of their names.
std::vector<std::string> ui_cut_off();

/// List of the widgets in the current frame: one `NAME X0 Y0 X1 Y1` a line, in the order of the names, which may hold
/// blanks.
std::string ui_layout();

/// Whether a section is open, and whether the user chose that.
struct Fold {
  bool open;
  bool chosen = false;
};

/// Folds by the ids of their sections.
using Folds = std::map<std::string, Fold, std::less<>>;

/// Where section() keeps what is open, while this lives. Without one, sections cannot be folded.
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

/// `content` with line breaks, so that no line is wider than `width` in the current font. They are at blanks, but not
/// between a number and its unit; a longer word is divided.
std::string in_lines(std::string_view content, float width);

/// Draws `content` in as many lines as in_lines() makes of it.
void text_in_lines(std::string_view content, float width, ImU32 colour = theme::text,
                   theme::Font font = theme::Font::body);

/// Draws `content` in lines that fit into the rest of the window's width.
void wrapped_text(std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// Shows `what`, and `more` dimmed below it, beside the mouse.
void show_tooltip(std::string_view what, std::string_view more = {});

/// Explains the last item, disabled or not, while the mouse rests on it: `what`, and `more` dimmed below it.
void tooltip(std::string_view what, std::string_view more = {});

/// An area that can be pressed, of a size >= 0 that may leave nothing to press: ImGui itself ends the program over
/// one without area.
bool hit_area(const char* id, ImVec2 size);

/// Whether the section of this id is open, before section() draws its head, which may be clicked.
bool is_open(const char* id, bool open_at_first);

/// The head of a collapsible section, marked as `section.ID`; `remark` stands dimmed at the right end of its line, and
/// `reserved` of the line is left for other widgets. Whether the section is open; UseFolds keeps that.
bool section(const char* id, const char* title, bool open_at_first, std::string_view remark = {}, float reserved = 0);

/// An arrow that shows or hides what lies below it, marked as `id`.
bool fold_button(const char* id, bool folded, ImVec2 size);

/// `content`, or as much of its beginning as `width` of the current font holds with an ellipsis behind it.
std::string shortened(std::string_view content, float width);

/// ImGui::BeginCombo with a quiet arrow, marked as `id`. Instead of a preview that is too long, the list shows `brief`,
/// or if that is empty or too long a shortened one, with the whole in the tooltip; Esc closes the list.
bool begin_combo(const char* id, const std::string& preview, int flags = 0, const std::string& brief = {});

/// The label of a row; the next item fills the rest of the line, less `reserved` at its end.
void row_label(const char* label, std::string_view notes, float reserved = 0);

/// The label of a row, marked as `id.label`; a dot stands behind it if `marked`. Whether it was double-clicked.
bool marked_label(const char* id, const char* label, std::string_view notes, bool marked);

/// Whether the current window was double-clicked between these corners, also below a list that the first click opened.
/// A drag or another action that the first click began ends then.
bool double_clicked(ImVec2 low, ImVec2 high);

/// A line of text to edit, marked as `id`, with `hint` while it is empty; red if `refused`. True when Enter ended it.
bool text_field(const char* id, const char* hint, std::string& content, bool refused = false);

/// A button in the accent's colour, for the one thing a group is about.
bool accent_button(const char* label, ImVec2 size = {});

enum class Icon { run, pause, step, restart, reset, record, stop };

/// A button with a drawn sign before its label, marked as `id`.
bool icon_button(const char* id, Icon icon, const char* label, ImVec2 size, bool accented = false);

/// A small rounded label.
void pill(std::string_view label, ImU32 colour);

/// An arc that turns as time passes.
void spinner(ImU32 colour);

/// ImGui::SliderScalar over `span`, tinted up to the value: a handle would cover the text.
template <class T>  // float or int
bool filled_slider(const char* label, T& value, const Range<T>& span, const char* format, int flags);

/// A logarithmic slider over `span` with entry by ctrl-click, marked as `id`. The new value while the grab is dragged
/// and when an entry is finished, if it is another than `current`; `own` after a double click.
template <class T>  // float or int
std::optional<T> log_slider(const char* id, T current, const Range<T>& span, const char* format,
                            std::optional<T> own = std::nullopt);

/// How far a measurement is: a bar for `share`, 0 to 1, with `words` in it, marked as `ID.progress`, and a button,
/// marked as `ID.stop`. Below it stands what is being measured. Whether the button was pressed.
bool progress_row(const char* id, float share, const std::string& words, std::string_view present);

/// The files that a measurement wrote, and `error`, marked as `ID.error`, if not empty.
void written_rows(const char* id, std::span<const std::string> files, std::string_view error);

}  // namespace orrery
