#pragma once
// The differences between Dear ImGui 1.86 and 1.92 that the program meets.

#include <imgui.h>

namespace orrery {

/// Index of a key for IsKeyDown() and IsKeyPressed(). Before 1.87 it is the back end's key code, as io.KeyMap has it.
inline auto key_index(ImGuiKey key) {
#if IMGUI_VERSION_NUM < 18700
  return ImGui::GetKeyIndex(key);
#else
  return key;
#endif
}

/// Index of the key with the capital letter `letter`, 'A' to 'Z'. Before 1.87 it is GLFW's key code, the letter itself.
inline auto letter_key_index(char letter) {
#if IMGUI_VERSION_NUM < 18700
  return static_cast<int>(letter);
#else
  return static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'A'));
#endif
}

/// Height in pixels for which a font was added. Since 1.92 a font has glyphs of every height.
inline float font_size(const ImFont& font) {
#if IMGUI_VERSION_NUM < 19200
  return font.FontSize;
#else
  return font.LegacySize;
#endif
}

/// Makes the glyph of a character wider by `share` of the font's height, the ink in its middle. Since 1.92 glyphs are
/// made when they are first drawn, and keep their widths.
inline void widen_glyph(ImFont& font, ImWchar character, float share) {
#if IMGUI_VERSION_NUM < 19200
  // FindGlyph returns a pointer to const, but a font's glyphs may be changed before its table is built again.
  auto* glyph = const_cast<ImFontGlyph*>(font.FindGlyphNoFallback(character));
  if (!glyph) return;
  const float wider = share * font_size(font);
  glyph->AdvanceX += wider;
  glyph->X0 += wider / 2;
  glyph->X1 += wider / 2;
  font.BuildLookupTable();
#else
  static_cast<void>(font), static_cast<void>(character), static_cast<void>(share);
#endif
}

}  // namespace orrery
