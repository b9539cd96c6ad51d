// Plots in the window, and bars of times.
#include "app/panels/kit/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <iterator>
#include <numeric>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/theme.h"
#include "app/panels/kit/widgets.h"

namespace orrery {
namespace {

using theme::em;

ImVec2 vec(PlotPoint point) {
  return {static_cast<float>(point.x), static_cast<float>(point.y)};
}

ImU32 colour_of(PlotInk ink) {
  constexpr std::array colours{theme::text, theme::dim,    theme::accent, theme::warn,           theme::good,
                               theme::bad,  theme::violet, theme::cyan,   theme::run_colours[0], theme::run_colours[1]};
  return colours.at(static_cast<std::size_t>(ink));
}

/// Draws a plot into the current ImGui window. Each mark is a button.
class WindowCanvas final : public PlotCanvas {
 public:
  explicit WindowCanvas(const char* id) : id_{id} {}

  double em() const override { return font_size(*theme::font(theme::Font::small)); }
  double width_of(std::string_view text) const override { return theme::text_width(text, theme::Font::small); }

  void ground(PlotPoint low, PlotPoint high) override {
    draw_.AddRectFilled(vec(low), vec(high), theme::track, theme::em(0.3f));
  }

  void line(const std::vector<PlotPoint>& points, PlotStroke stroke, PlotInk ink) override {
    const bool grid = stroke == PlotStroke::grid, front = stroke == PlotStroke::front;
    const float width = grid                         ? 1
                        : stroke == PlotStroke::bar  ? theme::em(1)
                        : stroke == PlotStroke::thin ? theme::em(0.06f)
                                                     : theme::em(0.1f);
    std::vector<ImVec2> line;
    std::ranges::transform(points, std::back_inserter(line), vec);
    const ImU32 colour = grid ? ImU32{theme::grid} : theme::faded(colour_of(ink), front ? 0.6f : 1);
    draw_.AddPolyline(line.data(), static_cast<int>(line.size()), colour, 0, width);
  }

  void dot(PlotPoint at, PlotInk ink) override { draw_.AddCircleFilled(vec(at), theme::em(0.16f), colour_of(ink)); }

  void mark(const PlotMark& mark, PlotPoint at) override {
    const float reach = theme::em(0.5f);
    const ImVec2 centre = vec(at);
    ImGui::SetCursorScreenPos({centre.x - reach, centre.y - reach});
    ImGui::PushID(mark.row);
    if (hit_area(id_, {2 * reach, 2 * reach})) use.clicked = mark.row;
    ImGui::PopID();
    ui_mark(id_, fmt::format_int(mark.row).c_str());
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) use.hovered = mark.row;
    draw_.AddCircleFilled(centre, theme::em(hovered ? 0.36f : 0.27f),
                          theme::faded(colour_of(mark.ink), mark.faint ? 0.25f : 0.9f));
    if (mark.ring) draw_.AddCircle(centre, reach, theme::text, 0, theme::em(0.12f));
  }

  void text(PlotPoint at, double align, std::string_view text, PlotInk ink, bool /*strong*/) override {
    ImFont* const font = theme::font(theme::Font::small);
    const ImVec2 corner = vec({at.x - align * width_of(text), at.y - em() / 2});
    draw_.AddText(font, font_size(*font), corner, colour_of(ink), text.data(), text.data() + text.size());
  }

  PlotUse use{};

 private:
  const char* id_;
  ImDrawList& draw_ = *ImGui::GetWindowDrawList();
};

}  // namespace

PlotUse draw_plot(const char* id, const Plot& plot, ImVec2 size) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  WindowCanvas canvas{id};
  const PlotArea area = draw_plot(plot, canvas, {low.x, low.y}, {low.x + size.x, low.y + size.y});
  ImGui::SetCursorScreenPos(low);
  ImGui::Dummy(size);
  ui_mark(id);
  if (ImGui::IsItemHovered()) {
    const double share = (ImGui::GetIO().MousePos.x - area.low.x) / (area.high.x - area.low.x);
    canvas.use.x = plot.across.low + share * (plot.across.high - plot.across.low);
  }
  return canvas.use;
}

void legend_entry(PlotInk ink, const char* words) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + em(0.3f), at.y + em(0.45f)}, em(0.26f), colour_of(ink));
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

/// Returns the widths in pixels of the legend's columns, which are filled row by row. Each column has room for its
/// longest name and a time; an empty column has a default width.
std::vector<float> widths_of(std::span<const TimePart> parts, int columns, float gap) {
  std::vector<float> widths(static_cast<std::size_t>(columns), em(5.5f));
  std::size_t column = 0;
  for (const TimePart& part : parts) {
    float& width = widths[column++ % widths.size()];
    width = std::max(width,
                     em(0.5f) + 2 * gap + theme::text_width(std::string{part.name} + "0.888 ms", theme::Font::small));
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
