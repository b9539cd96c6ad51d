#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

#include "app/panels/kit/theme.h"

namespace orrery {
/// The order of a table's rows.
struct SortOrder {
  std::string column;  ///< its name; empty: the rows' own order
  bool descending = false;
};

struct Column {
  const char* name;
  float width;  ///< in em, its cells end at the right; < 0: a share of what is left, its cells begin at the left
  const char* notes = "";
};

/// A table with a line of names that stays in sight; it scrolls where `rows` are more than `height` holds.
/// ImGui::EndTable ends it. False where nothing of it can be seen, and then it is ended already.
/// With `order`, a click on a name, marked as `id.by.NUMBER` from 0, sorts by that column: ascending, then descending,
/// then not. The caller draws the rows in that order.
bool begin_rows(const char* id, std::span<const Column> columns, int rows, float height, SortOrder* order = nullptr);

/// The next row's first cell, with `label`, marked as `id.index`: the row is one widget. Whether it was clicked.
bool row_button(const char* id, int index, const char* label, bool selected);

/// The next cell with a pin, marked as `ID.index`, over the row that it belongs to.
struct PinCell {
  bool clicked, hovered;
};

PinCell pin_cell(const char* id, int index, bool pinned);
void word_cell(std::string_view words, ImU32 colour = theme::dim);
void number_cell(std::string_view number, ImU32 colour = theme::text);

}  // namespace orrery
