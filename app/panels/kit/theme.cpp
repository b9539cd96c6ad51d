// Colours, fonts and spacing.
#include "app/panels/kit/theme.h"

#include <imgui.h>

#include <algorithm>
#include <span>

#include "app/panels/kit/imgui_versions.h"

namespace orrery::fonts {
extern const std::span<const unsigned char> roboto_regular, roboto_medium;

}  // namespace orrery::fonts

namespace orrery {
namespace {

ImFont* add_font(std::span<const unsigned char> file, float pixels) {
  static constexpr ImWchar glyphs[] = {0x0020, 0x007e, 0x00a0, 0x00ff, 0x03b5, 0x03b5, 0x2013, 0x2014, 0x2018, 0x201d,
                                       0x2022, 0x2022, 0x2026, 0x2026, 0x2190, 0x2193, 0x2212, 0x2212, 0};
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.OversampleH = 3;
  config.OversampleV = 2;
  // ImGui takes a pointer to non-const, but does not change data that it does not own.
  return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<unsigned char*>(file.data()),
                                                    static_cast<int>(file.size()), pixels, &config, glyphs);
}

/// Adds a gap between hyphens. In Roboto, the two hyphens of "--scene" look like one dash.
void space_hyphens(ImFontAtlas& atlas) {
  constexpr float gap = 0.14f;  // fraction of the font's height
  atlas.Build();
  for (ImFont* font : atlas.Fonts) widen_glyph(*font, '-', gap);
}

/// Returns a grey of this opacity: white on the dark tone, black on the light one.
ImVec4 grey(float opacity) {
  return theme::tone() == theme::Tone::light ? ImVec4{0, 0, 0, opacity} : ImVec4{1, 1, 1, opacity};
}

ImVec4 accent(float opacity) {
  return ImGui::ColorConvertU32ToFloat4(theme::faded(theme::accent, opacity));
}

void set_colours(theme::Tone tone) {
  const auto set = [&](ImGuiCol which, ImVec4 colour) { ImGui::GetStyle().Colors[which] = colour; };
  const bool light = tone == theme::Tone::light;
  // Set first, because theme::tone() reads this colour.
  // Windows are slightly transparent: bright bodies behind them remain visible, and the text stays readable.
  set(ImGuiCol_WindowBg, light ? ImVec4{0.965f, 0.969f, 0.980f, 0.92f} : ImVec4{0.043f, 0.051f, 0.078f, 0.88f});
  set(ImGuiCol_PopupBg, light ? ImVec4{1, 1, 1, 0.98f} : ImVec4{0.070f, 0.082f, 0.122f, 0.97f});
  set(ImGuiCol_Text, ImGui::ColorConvertU32ToFloat4(theme::text));
  set(ImGuiCol_TextDisabled, ImGui::ColorConvertU32ToFloat4(theme::faded(theme::dim, 0.75f)));
  set(ImGuiCol_TextSelectedBg, accent(0.35f));
  set(ImGuiCol_ChildBg, {});
  set(ImGuiCol_Border, grey(0.07f));
  set(ImGuiCol_BorderShadow, {});
  set(ImGuiCol_FrameBg, grey(0.055f));
  set(ImGuiCol_FrameBgHovered, grey(0.10f));
  set(ImGuiCol_FrameBgActive, grey(0.13f));
  set(ImGuiCol_Button, grey(0.075f));
  set(ImGuiCol_ButtonHovered, accent(0.35f));
  set(ImGuiCol_ButtonActive, accent(0.55f));
  set(ImGuiCol_Header, accent(0.20f));
  set(ImGuiCol_HeaderHovered, accent(0.28f));
  set(ImGuiCol_HeaderActive, accent(0.40f));
  set(ImGuiCol_SliderGrab, accent(0.30f));
  set(ImGuiCol_SliderGrabActive, accent(0.45f));
  set(ImGuiCol_CheckMark, accent(1.0f));
  set(ImGuiCol_Separator, grey(0.08f));
  set(ImGuiCol_ScrollbarBg, {});
  set(ImGuiCol_ScrollbarGrab, accent(0.35f));  // strong enough that users see that there is more to scroll to
  set(ImGuiCol_ScrollbarGrabHovered, accent(0.6f));
  set(ImGuiCol_ScrollbarGrabActive, accent(0.8f));
  set(ImGuiCol_PlotHistogram, accent(0.45f));
  set(ImGuiCol_TableHeaderBg, {});
  set(ImGuiCol_TableBorderLight, grey(0.05f));
  set(ImGuiCol_TableBorderStrong, grey(0.08f));
  set(ImGuiCol_TableRowBgAlt, grey(0.02f));
}

void set_sizes(ImGuiStyle& style) {
  style.WindowPadding = {12, 10};
  style.FramePadding = {8, 3};
  style.ItemSpacing = {8, 4};
  style.ItemInnerSpacing = {6, 4};
  style.CellPadding = {6, 2};
  style.ScrollbarSize = 8;
  style.GrabMinSize = 5;
  style.WindowRounding = 12;
  style.ChildRounding = 8;
  style.FrameRounding = 6;
  style.PopupRounding = 8;
  style.ScrollbarRounding = 8;
  style.GrabRounding = 3;
  style.WindowBorderSize = 1;
  style.PopupBorderSize = 1;
  style.DisabledAlpha = 0.45f;
}

}  // namespace

}  // namespace orrery

namespace orrery::theme {

Tone tone() {
  return ImGui::GetStyle().Colors[ImGuiCol_WindowBg].x > 0.5f ? Tone::light : Tone::dark;
}

ImFont* font(Font which) {
  const ImVector<ImFont*>& loaded = ImGui::GetIO().Fonts->Fonts;
  return loaded[static_cast<int>(which) < loaded.Size ? static_cast<int>(which) : 0];
}

}  // namespace orrery::theme

namespace orrery {

void apply_style(float scale, theme::Tone tone) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // ImGui stores no window positions, because panels cannot be moved
  io.Fonts->Clear();
  io.FontDefault = add_font(fonts::roboto_regular, theme::body_pixels * scale);
  add_font(fonts::roboto_medium, theme::body_pixels * scale);
  add_font(fonts::roboto_regular, 13 * scale);
  add_font(fonts::roboto_medium, 32 * scale);
  space_hyphens(*io.Fonts);

  ImGuiStyle& style = ImGui::GetStyle() = {};
  set_colours(tone);
  set_sizes(style);
  style.ScaleAllSizes(scale);
  style.WindowBorderSize = style.PopupBorderSize = std::max(1.0f, scale);
}

}  // namespace orrery
