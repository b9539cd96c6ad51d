#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "app/panels/kit/theme.h"

namespace orrery {

void text(std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);
/// The same, ending at `right` in the window's coordinates.
void text_to(float right, std::string_view content, ImU32 colour = theme::text, theme::Font font = theme::Font::body);

/// `content` with line breaks, so that no line is wider than `width` in the present font. They are at blanks, but not
/// between a number and its unit; a longer word is divided.
std::string in_lines(std::string_view content, float width);

/// As many lines as in_lines() makes of it.
void text_in_lines(std::string_view content, float width, ImU32 colour = theme::text,
                   theme::Font font = theme::Font::body);
/// The same in the rest of the window's width.
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

/// `content`, or as much of its beginning as `width` of the present font holds with an ellipsis behind it.
std::string shortened(std::string_view content, float width);

/// ImGui::BeginCombo with a quiet arrow, marked as `id`. Instead of a preview that is too long, the list shows `brief`,
/// or if that is empty or too long a shortened one, with the whole in the tooltip; Esc closes the list.
bool begin_combo(const char* id, const std::string& preview, int flags = 0, const std::string& brief = {});

/// The label of a row; the next item fills the rest of the line, less `reserved` at its end.
void row_label(const char* label, std::string_view notes, float reserved = 0);

/// The label of a row, marked as `id.label`; a dot stands behind it if `marked`. Whether it was double-clicked.
bool marked_label(const char* id, const char* label, std::string_view notes, bool marked);

/// Whether the present window was double-clicked between these corners, also below a list that the first click opened.
/// What the first click began, such as a drag, ends then.
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

}  // namespace orrery
