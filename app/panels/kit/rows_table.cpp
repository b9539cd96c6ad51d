#include "app/panels/kit/rows_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>

#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/widgets.h"

namespace orrery {
namespace {

using theme::em;

void sort_by(const char* column, SortOrder& order) {
  if (order.column != column) {
    order = {column, false};
  } else if (!order.descending) {
    order.descending = true;
  } else {
    order = {};
  }
}

/// Draws a sort arrow at the left or right end of the box from `low` to `high`.
void draw_arrow(ImVec2 low, ImVec2 high, bool at_left, bool down) {
  const float r = em(0.2f), x = at_left ? low.x + r : high.x - r, y = (low.y + high.y) / 2;
  const float tip = down ? r : -r;
  ImGui::GetWindowDrawList()->AddTriangleFilled({x - r, y - tip / 2}, {x + r, y - tip / 2}, {x, y + tip},
                                                theme::accent);
}

/// Draws the head of a column. A click anywhere on it sorts by the column.
void sorting_head(const char* id, int number, const Column& column, SortOrder& order) {
  const ImVec2 at = ImGui::GetCursorPos(), low = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()};
  ImGui::PushID(id);
  ImGui::PushID(number);
  if (hit_area("head", size)) sort_by(column.name, order);
  ImGui::PopID();
  ImGui::PopID();
  ui_mark(fmt::format("{}.by", id), fmt::format_int(number).c_str());
  tooltip(*column.notes ? column.notes : "Click to sort.", *column.notes ? "Click to sort." : "");
  const bool right = column.width > 0, sorted = order.column == column.name;
  const ImU32 colour = sorted || ImGui::IsItemHovered() ? theme::text : theme::dim;
  ImGui::SetCursorPos(at);
  if (right) {
    text_to(at.x + size.x, column.name, colour, theme::Font::small);
  } else {
    text(column.name, colour, theme::Font::small);
  }
  if (!sorted) return;
  // The arrow is next to the name: on the left of a right-aligned name, otherwise on its right.
  const float width = theme::text_width(column.name, theme::Font::small), gap = em(0.5f);
  const float x = right ? low.x + size.x - width - gap : low.x + width;
  draw_arrow({x, low.y}, {x + gap, low.y + font_size(*theme::font(theme::Font::small))}, right, order.descending);
}

}  // namespace

bool begin_rows(const char* id, std::span<const Column> columns, int rows, float height, SortOrder* order) {
  const float line = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const float wanted = line * static_cast<float>(1 + rows) + em(0.3f);
  constexpr int flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoPadOuterX;
  if (!ImGui::BeginTable(id, static_cast<int>(columns.size()), flags, {0, std::min(wanted, height)})) return false;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const Column& column : columns) {
    const bool fixed = column.width > 0;
    ImGui::TableSetupColumn(column.name, fixed ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
                            fixed ? em(column.width) : -column.width);
  }
  ImGui::TableNextRow();
  int number = 0;
  for (const Column& column : columns) {
    ImGui::TableNextColumn();
    if (order && *column.name) {
      sorting_head(id, number++, column, *order);
      continue;
    }
    if (column.width > 0) {
      text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, column.name, theme::dim, theme::Font::small);
    } else {
      text(column.name, theme::dim, theme::Font::small);
    }
    if (*column.notes) tooltip(column.notes);
  }
  return true;
}

bool row_button(const char* id, int index, const char* label, bool selected) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(index);
  const bool clicked = ImGui::Selectable(shortened(label, ImGui::GetContentRegionAvail().x).c_str(), selected,
                                         ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap);
  ImGui::PopID();
  ui_mark(id, fmt::format_int(index).c_str());
  return clicked;
}

PinCell pin_cell(const char* id, int index, bool pinned) {
  ImGui::TableNextColumn();
  const float height = ImGui::GetTextLineHeight();
  ImGui::PushID(id);
  ImGui::PushID(index);
  const bool clicked = ImGui::InvisibleButton("pin", {ImGui::GetContentRegionAvail().x, height});
  ImGui::PopID();
  ImGui::PopID();
  ui_mark(id, fmt::format_int(index).c_str());
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  const ImVec2 head{(low.x + high.x) / 2, low.y + 0.36f * height};
  const ImU32 colour = pinned ? theme::accent : theme::faded(theme::dim, hovered ? 1.0f : 0.45f);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float r = em(0.22f);
  draw.AddLine({head.x, head.y + r}, {head.x, low.y + 0.9f * height}, colour, em(0.1f));
  if (pinned) {
    draw.AddCircleFilled(head, r, colour);
  } else {
    draw.AddCircle(head, r, colour, 0, em(0.08f));
  }
  return {clicked, hovered};
}

void word_cell(std::string_view words, ImU32 colour) {
  ImGui::TableNextColumn();
  text(shortened(words, ImGui::GetContentRegionAvail().x), colour);
}

void number_cell(std::string_view number, ImU32 colour) {
  ImGui::TableNextColumn();
  text_to(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x, number, colour);
}

}  // namespace orrery
