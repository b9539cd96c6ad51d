#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

#include "app/panels/kit/theme.h"

namespace orrery {
/// Sort order of a table's rows.
struct SortOrder {
  std::string column;  ///< name of the column; empty: not sorted
  bool descending = false;
};

struct Column {
  const char* name;
  float width;  ///< > 0: in em, with right-aligned cells; < 0: share of the remaining width, with left-aligned cells
  const char* notes = "";
};

/// Begins a table whose line of names does not scroll. The rows scroll if `rows` need more than `height` pixels.
/// Returns false if no part of the table is visible. If true, the caller must call ImGui::EndTable().
/// If `order` is given, clicks on a name sort by that column: ascending, descending, then not. The caller draws the
/// rows in that order. Names are marked as `id.by.NUMBER`, from 0.
bool begin_rows(const char* id, std::span<const Column> columns, int rows, float height, SortOrder* order = nullptr);

/// Draws the first cell of the next row, marked as `id.index`. The whole row can be clicked; returns whether it was.
bool row_button(const char* id, int index, const char* label, bool selected);

/// Result of pin_cell(), which draws a pin in the next cell, marked as `ID.index`, on top of the clickable row.
struct PinCell {
  bool clicked, hovered;
};

PinCell pin_cell(const char* id, int index, bool pinned);
void word_cell(std::string_view words, ImU32 colour = theme::dim);
void number_cell(std::string_view number, ImU32 colour = theme::text);

}  // namespace orrery
