#pragma once

#include <imgui.h>

#include <array>
#include <cfloat>
#include <string_view>

#include "app/panels/kit/imgui_versions.h"

namespace orrery::theme {
/// Style of the window: light text on a dark background, or dark text on a light one.
enum class Tone { dark, light };

/// Returns the tone of the current ImGui context. Before apply_style(), the tone is dark.
Tone tone();

/// A colour with one value per tone. Converts to the value for the current tone.
struct Colour {
  ImU32 on_dark, on_light;
  operator ImU32() const { return tone() == Tone::light ? on_light : on_dark; }
};

constexpr Colour accent{IM_COL32(122, 162, 247, 255), IM_COL32(38, 88, 196, 255)};
constexpr Colour text{IM_COL32(216, 222, 238, 255), IM_COL32(28, 33, 48, 255)};
constexpr Colour dim{IM_COL32(139, 147, 173, 255), IM_COL32(92, 99, 122, 255)};
constexpr Colour good{IM_COL32(158, 206, 106, 255), IM_COL32(62, 122, 24, 255)};
constexpr Colour warn{IM_COL32(224, 175, 104, 255), IM_COL32(158, 96, 8, 255)};
constexpr Colour bad{IM_COL32(247, 118, 142, 255), IM_COL32(190, 30, 62, 255)};
constexpr Colour track{IM_COL32(255, 255, 255, 16), IM_COL32(0, 0, 0, 18)};
constexpr Colour grid{IM_COL32(255, 255, 255, 20), IM_COL32(0, 0, 0, 26)};
constexpr Colour on_accent{IM_COL32(14, 18, 30, 255), IM_COL32(255, 255, 255, 255)};

/// Background of an error message.
constexpr Colour alarm{IM_COL32(62, 20, 32, 235), IM_COL32(255, 228, 232, 245)};

/// Colours for the parts of a bar.
constexpr Colour blue = accent;
constexpr Colour violet{IM_COL32(187, 154, 247, 255), IM_COL32(120, 76, 200, 255)};
constexpr Colour cyan{IM_COL32(42, 195, 222, 255), IM_COL32(0, 132, 160, 255)};
constexpr Colour slate{IM_COL32(86, 95, 137, 255), IM_COL32(120, 128, 160, 255)};
constexpr Colour pale{IM_COL32(255, 255, 255, 40), IM_COL32(0, 0, 0, 40)};

/// Colours of the runs A and B of a comparison, the same as in the picture: the first two of render::part_colours().
inline constexpr std::array run_colours{Colour{IM_COL32(86, 180, 233, 255), IM_COL32(63, 136, 178, 255)},
                                        Colour{IM_COL32(230, 159, 0, 255), IM_COL32(173, 119, 0, 255)}};

/// Returns `colour` with its opacity, 0 to 1, replaced.
constexpr ImU32 faded(ImU32 colour, float opacity) {
  return (colour & ~static_cast<ImU32>(IM_COL32_A_MASK)) | (static_cast<ImU32>(opacity * 255.0f) << IM_COL32_A_SHIFT);
}

/// Fonts, in the order in which apply_style() loads them.
enum class Font { body, strong, small, headline };

/// Returns a font of the current ImGui context. Before apply_style(), returns the body font.
ImFont* font(Font which);

constexpr float body_pixels = 15;  ///< height of the body font on a display of 96 dots per inch

/// Converts from multiples of the body font's height to pixels. Sizes in em follow the display's scale.
inline float em(float lengths) {
  return lengths * font_size(*font(Font::body));
}

/// Width in pixels of `words`, one line, in a font.
inline float text_width(std::string_view words, Font which) {
  ImFont& chosen = *font(which);
  return chosen.CalcTextSizeA(font_size(chosen), FLT_MAX, 0, words.data(), words.data() + words.size()).x;
}

}  // namespace orrery::theme

namespace orrery {

/// Sets colours, spacing and fonts for a display of `scale` (1 = 96 dots per inch). Rebuilds the current context's font
/// atlas, so call outside a frame. If `scale` has changed, the renderer back end must recreate its font texture.
void apply_style(float scale, theme::Tone tone = theme::Tone::dark);

}  // namespace orrery
