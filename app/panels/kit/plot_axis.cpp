#include "app/panels/kit/plot_axis.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "app/panels/kit/theme.h"

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

/// Calls draw(exponent) for as many decades as have room for labels of this size.
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

}  // namespace orrery
