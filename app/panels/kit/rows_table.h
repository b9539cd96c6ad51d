#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

#include "app/panels/kit/theme.h"

namespace orrery {
/// Sort order of a table's rows.
struct SortOrder {
  std::string column;  ///< name of the column; empty: the rows are not sorted
  bool descending = false;
};

struct Column {
  const char* name;
  float width;  ///< > 0: in em, with right-aligned cells; < 0: share of the remaining width, with left-aligned cells
  const char* notes = "";
};

/// Begins a table whose column names do not scroll. The rows scroll if `rows` rows need more than `height` pixels.
/// Returns false if the table is not visible. If true, the caller must call ImGui::EndTable().
/// If `order` is given, a click on a name changes it: ascending, descending, then unsorted. The caller then draws the
/// rows in that order. Test marks of the names: `id.by.NUMBER`, from 0.
bool begin_rows(const char* id, std::span<const Column> columns, int rows, float height, SortOrder* order = nullptr);

/// Draws the first cell of the next row. The whole row can be clicked; returns whether it was. Test mark: `id.index`.
bool row_button(const char* id, int index, const char* label, bool selected);

/// Result of pin_cell(), which draws a pin in the next cell, above the clickable row. Test mark: `ID.index`.
struct PinCell {
  bool clicked, hovered;
};

PinCell pin_cell(const char* id, int index, bool pinned);
void word_cell(std::string_view words, ImU32 colour = theme::dim);
void number_cell(std::string_view number, ImU32 colour = theme::text);

}  // namespace orrery
