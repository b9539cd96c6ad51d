#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"

namespace orrery {
namespace {

using theme::em;

/// How much of the legend is drawn. `brief`, in a low window, leaves out the bodies outside the range. `colours`, in a
/// narrow one, has only the colours and a scale bar.
enum class Extent { whole, brief, colours };

ImU32 packed(const std::array<float, 3>& colour) {
  return ImGui::ColorConvertFloat4ToU32({colour[0], colour[1], colour[2], 1});
}

void small_words(std::string_view words, ImU32 colour = theme::text) {
  text(words, colour, theme::Font::small);
}

/// Draws three short texts: left, centred and right-aligned. The middle one is fainter.
void line(float left, float width, const std::string& begin, const std::string& middle, const std::string& end,
          ImU32 colour = theme::text) {
  small_words(begin, colour);
  if (!middle.empty()) {
    ImGui::SameLine();
    ImGui::SetCursorPosX(left + 0.5f * (width - theme::text_width(middle, theme::Font::small)));
    small_words(middle, theme::dim);
  }
  ImGui::SameLine();
  text_to(left + width, end, colour, theme::Font::small);
}

/// Draws one field per class of bodies.
void class_fields(const Legend& legend, ImVec2 low, float width, float height) {
  const float part = width / static_cast<float>(legend.colours.size()), gap = std::min(em(0.1f), 0.2f * part);
  for (std::size_t i = 0; i < legend.colours.size(); ++i) {
    const float x = low.x + part * static_cast<float>(i);
    ImGui::GetWindowDrawList()->AddRectFilled({x, low.y}, {x + part - gap, low.y + height}, packed(legend.colours[i]));
  }
}

void colour_bar(const Legend& legend, float width) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float height = em(0.5f), part = width / static_cast<float>(legend.colours.size() - 1);
  ImGui::Dummy({width, height});
  if (!legend.low_class.empty()) return class_fields(legend, low, width, height);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i + 1 < legend.colours.size(); ++i) {
    const ImU32 left = packed(legend.colours[i]), right = packed(legend.colours[i + 1]);
    const float x = low.x + part * static_cast<float>(i);
    draw.AddRectFilledMultiColor({x, low.y}, {x + part, low.y + height}, left, right, right, left);
  }
}

/// Returns the share of bodies outside one end of the range: "2 % below"; empty if it is 0 or not known.
std::string beyond_text(const std::optional<float>& share, const char* side) {
  if (!share || !(*share > 0)) return {};
  return *share < 0.01f ? fmt::format("under 1 % {}", side) : fmt::format("{:.0f} % {}", 100 * *share, side);
}

void values(const Legend& legend, const ShownRange& range, float left, float width, Extent extent) {
  colour_bar(legend, width);
  line(left, width, format_value(range.low), range.unit, format_value(range.high));
  if (!legend.low_class.empty()) {
    line(left, width, legend.low_class, counted(std::ssize(legend.colours), "class", "classes"), legend.high_class);
    ui_mark("legend.classes");
  }
  if (extent == Extent::brief) return;
  const std::string below = beyond_text(legend.below, "below"), above = beyond_text(legend.above, "above");
  if (below.empty() && above.empty()) return;
  line(left, width, below, {}, above, theme::dim);
  ui_mark("legend.beyond");
}

void swatch(const LegendPart& part) {
  const float side = em(0.6f), height = font_size(*theme::font(theme::Font::small));
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float y = low.y + 0.5f * (height - side);
  ImGui::GetWindowDrawList()->AddRectFilled({low.x, y}, {low.x + side, y + side}, packed(part.colour));
  ImGui::Dummy({side, height});
  ImGui::SameLine();
  small_words(part.name);
}

void swatches(const char* id, const std::vector<LegendPart>& parts) {
  for (const LegendPart& part : parts) {
    swatch(part);
    ui_mark(id, part.name);
  }
}

/// Draws the legend of colours for a narrow space: the quantity, the bar, its ends and their unit.
void few_values(const Legend& legend, const ShownRange& range, float left, float width) {
  const std::string low = format_value(range.low), high = format_value(range.high);
  colour_bar(legend, width);
  if (theme::text_width(low + "  " + high, theme::Font::small) <= width) {
    line(left, width, low, {}, high);
  } else {
    small_words(low);
    text_to(left + width, high, theme::text, theme::Font::small);
  }
  if (!range.unit.empty()) text_in_lines(range.unit, width, theme::dim, theme::Font::small);
}

/// Describes, for tooltips, the unit of lengths and values.
const char* unit_words(const Status& status) {
  return status.units ? "in a unit that fits; the scene's own are in the panel." : "in units of G = 1.";
}

void colours(const Status& status, const Legend& legend, float width, Extent extent) {
  const bool compact = extent == Extent::colours;
  const float left = ImGui::GetCursorPosX();
  const char* const logarithmic = compact ? ", log" : ", logarithmic";
  const char* const scale = legend.logarithmic && !legend.colours.empty() ? logarithmic : "";
  text_in_lines(legend.quantity + scale, width, theme::text, theme::Font::small);
  ui_mark("legend.quantity");
  tooltip(
      "The hue of a pixel shows the mean over the bodies on the line of sight, weighted by their light. Much light is "
      "paler than these colours.",
      fmt::format("Values are {} Values beyond the ends have the colours of the ends.", unit_words(status)));
  if (!legend.colours.empty()) {
    const ShownRange range = shown_range(status.units, legend);
    compact ? few_values(legend, range, left, width) : values(legend, range, left, width, extent);
  } else {
    swatches("legend.part", legend.parts);
  }
  if (legend.note.empty() && !(legend.known.value_or(1) < 1)) return;
  text_in_lines(legend.note.empty() ? fmt::format("measured: {:.0f} %", std::floor(100 * *legend.known)) : legend.note,
                width, theme::dim, theme::Font::small);
  ui_mark("legend.measured");
  tooltip("Bodies whose value is not known are grey.");
}

/// A horizontal bar above its line of text.
struct Bar {
  float left, right, middle;  ///< x of both ends and y of the middle, in pixels
  float thickness;            ///< in whole pixels
  ImU32 colour;

  void draw(float from, float to, float half_height) const {
    ImGui::GetWindowDrawList()->AddRectFilled({from, middle - half_height}, {to, middle + half_height}, colour);
  }
  void shaft(float to) const { draw(left, to, 0.5f * thickness); }
};

/// Calls `draw` with a bar whose length represents a round value. Returns that value: "0.2 kpc". `per_height`: value
/// that the window's height represents.
template <class Draw>
std::string length_bar(const Status& status, const Dimension& dimension, double per_height, float most_width,
                       ImU32 colour, Draw&& draw) {
  const double per_pixel = per_height / ImGui::GetIO().DisplaySize.y;
  const ShownUnit unit = shown_unit(status.units, dimension, per_pixel * most_width);
  const double length = round_length(per_pixel * most_width / unit.size);
  const auto width = static_cast<float>(length * unit.size / per_pixel);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const float height = font_size(*theme::font(theme::Font::small)), thickness = std::max(std::round(em(0.08f)), 1.0f);
  const float top = std::round(low.y + 0.5f * (height - thickness));
  draw(Bar{low.x, std::round(low.x + width), top + 0.5f * thickness, thickness, colour});
  ImGui::Dummy({width, height});
  return fmt::format("{:g}{}", length, unit.name);
}

/// Draws the scale bar with its text beside it, or below it if `narrow`.
void scale_bar(const Status& status, const Legend& legend, float width, bool narrow) {
  const float longest = narrow ? width : width - em(4.5f);
  const std::string length =
      length_bar(status, dimension::length, legend.world_per_height, longest, theme::text, [](Bar bar) {
        bar.shaft(bar.right);
        bar.draw(bar.left, bar.left + bar.thickness, em(0.25f));
        bar.draw(bar.right - bar.thickness, bar.right, em(0.25f));
      });
  if (!narrow) ImGui::SameLine();
  text_in_lines("length " + length, narrow ? width : em(20), theme::text, theme::Font::small);
  ui_mark("legend.scale");
  tooltip(
      std::string{"Length at the camera's target, "} + unit_words(status),
      legend.tick.empty() ? std::string{} : "Tick marks of the axes are " + legend.tick + " apart, in units of G = 1.");
}

/// Draws the scale of the arrows. The longest arrows are a tenth of the window's height.
void arrow_scale(const Status& status, const Legend& legend) {
  const std::string& quantity = legend.arrows.name;
  if (!(legend.arrow_per_height > 0)) {
    small_words(quantity + ": known after the next step", theme::dim);
    return;
  }
  const bool accelerations = quantity == "acceleration";
  const float longest = std::min(0.1f * ImGui::GetIO().DisplaySize.y, em(6));
  const std::string value = length_bar(
      status, accelerations ? dimension::acceleration : dimension::velocity, legend.arrow_per_height, longest,
      packed(legend.arrows.colour), [](Bar bar) {
        const float head = std::min(em(0.6f), 0.5f * (bar.right - bar.left)), neck = bar.right - head;
        bar.shaft(neck);
        ImGui::GetWindowDrawList()->AddTriangleFilled({bar.right, bar.middle}, {neck, bar.middle - 0.5f * head},
                                                      {neck, bar.middle + 0.5f * head}, bar.colour);
      });
  ImGui::SameLine();
  small_words(quantity + " " + value);
  ui_mark("legend.arrows");
  tooltip(std::string{"What an arrow of this length means at the camera's target, "} + unit_words(status),
          accelerations ? "The mean acceleration between two readings of the bodies." : "");
}

void trail_length(const Status& status, const Legend& legend) {
  const char* const unit = status.units ? "" : " of time";
  small_words("trails: the last " + shown_text(status.units, dimension::time, {&legend.trail_length, 1}) + unit);
  ui_mark("legend.trails");
  tooltip("The time since a body was where its trail begins.", "They are shorter until so much time has passed.");
}

/// Draws the whole legend except the colours of bodies.
void lengths(const Status& status, const Legend& legend, float width, Extent extent) {
  const bool narrow = extent == Extent::colours;
  if (narrow) return scale_bar(status, legend, width, narrow);
  if (!legend.cells.name.empty()) {
    swatch(legend.cells);
    ui_mark("legend.cells");
  }
  swatches("legend.walk", legend.walk);
  if (legend.trail_length > 0) trail_length(status, legend);
  if (!legend.arrows.name.empty()) arrow_scale(status, legend);
  scale_bar(status, legend, width, narrow);
}

struct LegendLayout {
  ImVec2 corner;  ///< lower right corner of the legend's window
  ImVec2 padding;
  float width;  ///< width of the content, in pixels
  Extent extent;
};

/// Chooses the extent of the legend. A narrow part of the window gets only the colours, with values and units.
LegendLayout layout_of(const ViewStatus& view, const PanelState& state) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float full = em(11), usual_margin = em(0.75f), column = side_column_width(view);
  const float lesson = legend_below_lesson(view) ? 0 : lesson_width(view);
  const bool with_card = view.picked && state.card.corner == CardCorner::lower_left;
  const float stage = display.x - column - lesson, beside_card = stage - state.card.size().x - usual_margin;
  const bool over_card = with_card && beside_card < em(8);
  const float room = with_card && !over_card ? beside_card : stage;
  const bool narrow = room < full + 4 * usual_margin, tight = narrow && room == stage;
  const float margin = tight ? em(0.1f) : usual_margin;
  const float rest = room + (tight && column > 0 ? usual_margin : 0);  // the side column has a margin of its own
  const ImVec2 padding = tight ? ImVec2{em(0.2f), em(0.2f)} : ImGui::GetStyle().WindowPadding;
  const float width = narrow ? std::min(rest - 2 * (margin + padding.x), full) : full;
  const float right = display.x - lesson - margin;
  const bool beside = state.lab.right + margin <= right - width - 2 * padding.x;  // clear of the laboratory
  float low = display.y - (beside ? 0 : state.lab.covered);
  if (over_card) low -= state.card.size().y + usual_margin;
  const bool brief = room < em(40) && low < em(34);
  return {{right, low - margin}, padding, width, narrow ? Extent::colours : brief ? Extent::brief : Extent::whole};
}

}  // namespace

void legend_panel(const Status& status, const ViewStatus& view, PanelState& state) {
  const Legend& legend = view.legend;
  state.legend_corner = ImGui::GetIO().DisplaySize;
  if (!view.legend_shown || !(legend.world_per_height > 0)) return;
  const LegendLayout layout = layout_of(view, state);
  if (layout.width < em(2.5f)) return;
  ImGui::SetNextWindowPos(layout.corner, ImGuiCond_Always, {1, 1});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, layout.padding);
  if (ImGui::Begin("Legend", nullptr,
                   base_window | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoFocusOnAppearing)) {
    if (!legend.quantity.empty()) colours(status, legend, layout.width, layout.extent);
    lengths(status, legend, layout.width, layout.extent);
    const ImVec2 size = ImGui::GetWindowSize();
    state.legend_corner = {layout.corner.x - size.x, layout.corner.y - size.y};
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

void label_panel(const ViewStatus& view) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImDrawList& draw = *ImGui::GetBackgroundDrawList();
  const bool light = view.appearance.theme == render::Theme::light;
  const ImU32 ground = light ? IM_COL32(255, 255, 255, 150) : IM_COL32(0, 0, 0, 150);
  for (const PictureLabel& label : view.labels) {
    ImFont* const font = theme::font(label.strong ? theme::Font::strong : theme::Font::small);
    const ImVec2 size = font->CalcTextSizeA(font_size(*font), FLT_MAX, 0, label.text.c_str());
    const ImVec2 at{label.place[0] * display.x - size.x / 2, label.place[1] * display.y - size.y / 2};
    const ImU32 colour = ImGui::ColorConvertFloat4ToU32({label.colour[0], label.colour[1], label.colour[2], 1});
    for (const float x : {-1.0f, 1.0f}) {
      for (const float y : {-1.0f, 1.0f})
        draw.AddText(font, font_size(*font), {at.x + x, at.y + y}, ground, label.text.c_str());
    }
    draw.AddText(font, font_size(*font), at, colour, label.text.c_str());
  }
}

}  // namespace orrery
