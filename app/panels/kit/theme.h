#pragma once

#include <imgui.h>

namespace orrery::theme {

constexpr ImU32 accent = IM_COL32(122, 162, 247, 255);
constexpr ImU32 text = IM_COL32(216, 222, 238, 255);
constexpr ImU32 dim = IM_COL32(139, 147, 173, 255);
constexpr ImU32 good = IM_COL32(158, 206, 106, 255);
constexpr ImU32 warn = IM_COL32(224, 175, 104, 255);
constexpr ImU32 bad = IM_COL32(247, 118, 142, 255);
constexpr ImU32 track = IM_COL32(255, 255, 255, 16);
constexpr ImU32 on_accent = IM_COL32(14, 18, 30, 255);

/// `colour` with its opacity replaced; 0 to 1.
constexpr ImU32 faded(ImU32 colour, float opacity) {
  return (colour & ~static_cast<ImU32>(IM_COL32_A_MASK)) | (static_cast<ImU32>(opacity * 255.0f) << IM_COL32_A_SHIFT);
}

/// In the order in which apply_style() loads them.
enum class Font { body, strong, small, headline };
/// The present context's font; the body font where apply_style() was not called.
ImFont* font(Font which);

constexpr float body_pixels = 15;  ///< the body font's height on a display of 96 dots per inch

/// A length in units of the body font's height, so that every size follows the display's scale.
inline float em(float lengths) {
  return lengths * font(Font::body)->FontSize;
}

}  // namespace orrery::theme
