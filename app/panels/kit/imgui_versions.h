#pragma once
// The differences between Dear ImGui 1.86 and 1.92 that concern this program.

#include <imgui.h>

namespace orrery {

/// Returns a key's index for IsKeyDown() and IsKeyPressed(). Before 1.87: the back end's key code from io.KeyMap.
inline auto key_index(ImGuiKey key) {
#if IMGUI_VERSION_NUM < 18700
  return ImGui::GetKeyIndex(key);
#else
  return key;
#endif
}

/// Returns the index of the key `letter`, 'A' to 'Z'. Before 1.87, it is GLFW's key code, which equals the letter.
inline auto letter_key_index(char letter) {
#if IMGUI_VERSION_NUM < 18700
  return static_cast<int>(letter);
#else
  return static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'A'));
#endif
}

/// Returns the height in pixels for which a font was added. Since 1.92, a font can draw glyphs of any height.
inline float font_size(const ImFont& font) {
#if IMGUI_VERSION_NUM < 19200
  return font.FontSize;
#else
  return font.LegacySize;
#endif
}

/// Makes a character's glyph wider by `share` of the font's height, and centres the ink. Does nothing since 1.92, where
/// ImGui makes glyphs when they are first drawn.
inline void widen_glyph(ImFont& font, ImWchar character, float share) {
#if IMGUI_VERSION_NUM < 19200
  // FindGlyph returns a pointer to const, but glyphs may be changed before BuildLookupTable().
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
