// Plots with axes and dots, and bars of times.
#include "app/panels/kit/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/theme.h"
#include "app/panels/kit/widgets.h"

namespace orrery {
namespace {

using theme::em;

ImVec2 small_size(const std::string& label) {
  ImFont* const font = theme::font(theme::Font::small);
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, label.c_str());
}

void draw_small(ImVec2 at, const std::string& label) {
  ImFont* const font = theme::font(theme::Font::small);
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, theme::dim, label.c_str());
}

/// Calls draw(exponent) for each labelled decade. Skips decades if there is no room for labels of size `label`.
template <class Draw>
void each_decade(const DecadeAxis& axis, float length, float label, Draw&& draw) {
  const int decades = axis.high - axis.low, room = std::max(static_cast<int>(length / label), 1);
  const int stride = (decades + room - 1) / room;
  for (int exponent = axis.low; exponent <= axis.high; exponent += stride) draw(exponent);
}

}  // namespace

DecadeAxis DecadeAxis::around(double least, double most) {
  if (!(least > 0) || !(most >= least) || !std::isfinite(most)) return {};
  const int low = static_cast<int>(std::floor(std::log10(least)));
  return {low, std::max(static_cast<int>(std::ceil(std::log10(most))), low + 1)};
}

float DecadeAxis::at(double value) const {
  if (!(value > 0)) return 0;
  return static_cast<float>(std::clamp((std::log10(value) - low) / (high - low), 0.0, 1.0));
}

LinearAxis LinearAxis::around(std::span<const double> values, bool from_zero, double top_of_zeros) {
  double low = from_zero ? 0 : DBL_MAX, high = from_zero ? 0 : -DBL_MAX;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high || (low == 0 && high == 0)) return {0, top_of_zeros};
  if (low == high) low -= 0.5 * std::abs(low), high += 0.5 * std::abs(high);
  const double margin = 0.08 * (high - low);
  return {from_zero && low == 0 ? 0 : low - margin, high + margin};
}

void draw_decades_across(const PlotArea& area, const DecadeAxis& axis, std::string (*label)(int exponent)) {
  each_decade(axis, area.width(), em(3.2f), [&](int exponent) {
    const float x = area.at(static_cast<float>(exponent - axis.low) / static_cast<float>(axis.high - axis.low), 0).x;
    ImGui::GetWindowDrawList()->AddLine({x, area.low.y}, {x, area.high.y}, theme::grid);
    const std::string words = label(exponent);
    const float width = small_size(words).x;
    draw_small({std::max(std::min(x - width / 2, area.high.x - width), area.low.x), area.high.y + em(0.1f)}, words);
  });
}

void draw_decades_up(const PlotArea& area, const DecadeAxis& axis, std::string (*label)(int exponent)) {
  each_decade(axis, area.height(), em(1.5f), [&](int exponent) {
    const float y = area.at(0, static_cast<float>(exponent - axis.low) / static_cast<float>(axis.high - axis.low)).y;
    ImGui::GetWindowDrawList()->AddLine({area.low.x, y}, {area.high.x, y}, theme::grid);
    const std::string words = label(exponent);
    const ImVec2 size = small_size(words);
    draw_small({area.low.x - em(0.3f) - size.x, y - size.y / 2}, words);
  });
}

void small_text(ImVec2 at, ImU32 colour, const std::string& words) {
  ImFont* const font = theme::font(theme::Font::small);
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, colour, words.c_str());
}

float small_width(const std::string& words) {
  ImFont* const font = theme::font(theme::Font::small);
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, words.c_str()).x;
}

float dot_radius() {
  return em(0.27f);
}

PlotDot plot_dot(const char* id, int index, ImVec2 centre, ImU32 colour, bool present) {
  const float reach = em(0.5f);
  ImGui::SetCursorScreenPos({centre.x - reach, centre.y - reach});
  ImGui::PushID(index);
  const bool clicked = hit_area(id, {2 * reach, 2 * reach});
  ImGui::PopID();
  ui_mark(id, fmt::format_int(index).c_str());
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddCircleFilled(centre, hovered ? em(0.36f) : dot_radius(), colour);
  if (present) draw.AddCircle(centre, reach, theme::text, 0, em(0.12f));
  return {clicked, hovered};
}

void draw_steps(const PlotArea& area, std::span<const ImVec2> dots, float from, ImU32 colour) {
  if (dots.empty()) return;
  std::vector<ImVec2> line;
  for (const ImVec2 dot : dots) {
    line.push_back({dot.x, line.empty() ? from : line.back().y});
    line.push_back(dot);
  }
  line.push_back({area.high.x, line.back().y});
  ImGui::GetWindowDrawList()->AddPolyline(line.data(), static_cast<int>(line.size()), colour, 0, em(0.1f));
}

void legend_entry(ImU32 colour, const char* words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.3f), at.y + em(0.45f)}, em(0.26f), colour);
  ImGui::Dummy({em(0.6f), em(0.9f)});
  ImGui::SameLine(0, em(0.3f));
  text(words, theme::dim, theme::Font::small);
}
namespace {

void begin_entry(ImU32 colour) {
  ImGui::TableNextColumn();
  ImGui::BeginGroup();
  const ImVec2 dot = ImGui::GetCursorScreenPos();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({dot.x, dot.y + em(0.2f)}, {dot.x + em(0.5f), dot.y + em(0.7f)}, colour, em(0.12f));
  ImGui::Dummy({em(0.5f), em(0.8f)});
  ImGui::SameLine();
}

/// Returns the widths of columns that are filled row by row. Each has room for its longest name and time; an empty
/// column has a usual width.
std::vector<float> widths_of(std::span<const TimePart> parts, int columns, float gap) {
  std::vector<float> widths(static_cast<std::size_t>(columns), em(5.5f));
  std::size_t column = 0;
  for (const TimePart& part : parts) {
    float& width = widths[column++ % widths.size()];
    width = std::max(width, em(0.5f) + 2 * gap + small_width(std::string{part.name} + "0.888 ms"));
  }
  return widths;
}

}  // namespace

void time_head(std::string_view title, const std::string& total) {
  text(title, theme::dim, theme::Font::small);
  ImGui::SameLine();
  text_to(ImGui::GetWindowContentRegionMax().x, total, theme::dim, theme::Font::small);
}

void time_bar(const char* id, std::span<const TimePart> parts, double total_ms) {
  double sum = 0;
  for (const TimePart& part : parts) sum += part.known ? part.ms : 0;
  const double whole = std::max({sum, total_ms, 1e-9});
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, em(0.6f)};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.2f));
  float x = low.x;
  for (const TimePart& part : parts) {
    const float width = part.known ? static_cast<float>(part.ms / whole) * size.x : 0;
    const ImVec2 end{x + std::max(width - 1, 1.0f), low.y + size.y};
    if (width >= 0.5f) draw.AddRectFilled({x, low.y}, end, part.colour, em(0.15f));
    x += width;
  }
  ImGui::Dummy(size);
  ui_mark(id);
}

void time_legend(const char* id, std::span<const TimePart> parts, int most_columns) {
  const float gap = em(0.3f), padding = em(0.05f), room = ImGui::GetContentRegionAvail().x;
  std::vector<float> widths = widths_of(parts, most_columns, gap);
  const float needed =
      std::accumulate(widths.begin(), widths.end(), 0.0f) + 2 * padding * static_cast<float>(widths.size());
  if (needed > room && most_columns > 2) widths = widths_of(parts, 2, gap);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding, em(0.1f)});
  if (ImGui::BeginTable(id, static_cast<int>(widths.size()), ImGuiTableFlags_NoPadOuterX)) {
    for (const float width : widths) ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, width);
    for (const TimePart& part : parts) {
      begin_entry(part.colour);
      text(part.name, theme::dim, theme::Font::small);
      ImGui::SameLine();
      text(part.known ? format_ms(part.ms) : unknown, theme::text, theme::Font::small);
      ImGui::EndGroup();
      ui_mark(id, part.name);
      tooltip(part.notes);
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
}

}  // namespace orrery
