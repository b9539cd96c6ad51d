#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "app/colours/body_colour.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

/// Draws a radio button that sets `chosen` to `value`. Marked as `id.label`.
template <class Value>
void choice(const char* id, const char* label, Value& chosen, Value value) {
  ImGui::PushID(id);
  if (ImGui::RadioButton(label, chosen == value)) chosen = value;
  ImGui::PopID();
  ui_mark(id, label);
}

/// Draws the choices of overlays on the bodies.
void overlay_rows(const ViewStatus& view, Requests& out) {
  ShowTrails trails = view.overlays.trails;
  row_label("Trails", "Where bodies were: of a sample of at most 1,024, or of the picked one.");
  choice("trails", "off", trails.of, TrailsOf::nobody);
  ImGui::SameLine();
  choice("trails", "sample", trails.of, TrailsOf::sample);
  ImGui::SameLine();
  choice("trails", "picked", trails.of, TrailsOf::picked);
  if (!(trails == view.overlays.trails)) out.push_back(trails);

  ShowVectors vectors = view.overlays.vectors;
  row_label("Arrows",
            "Arrows at a sample of at most 1,024 bodies and at the picked one. The legend shows their scale.");
  choice("vectors", "off", vectors.quantity, Vectors::none);
  ImGui::SameLine();
  choice("vectors", "velocity", vectors.quantity, Vectors::velocity);
  ImGui::SameLine();
  choice("vectors", "accel.", vectors.quantity, Vectors::acceleration);
  if (!(vectors == view.overlays.vectors)) out.push_back(vectors);
}

void theme_row(const ViewStatus& view, Requests& out) {
  render::Theme theme = view.appearance.theme;
  row_label("Theme", "Dark: bodies are light. Light: bodies are ink on white, for print.");
  choice("theme", "dark", theme, render::Theme::dark);
  ImGui::SameLine();
  choice("theme", "light", theme, render::Theme::light);
  if (theme != view.appearance.theme) out.push_back(SetTheme{theme});
}

/// Choices of what the camera may follow. The parts of the scene are listed after these.
struct FollowChoice {
  Followed value;
  const char *title, *notes;
};
constexpr std::array follow_choices{
    FollowChoice{Followed::nothing, "nothing", "The camera stays where it is."},
    FollowChoice{Followed::body, "picked body", "A click on a body picks it."},
    FollowChoice{Followed::mass, "centre of mass",
                 "The centre of mass of all bodies stays where it is in the picture."},
    FollowChoice{Followed::cluster, "largest cluster",
                 "The place with most mass. Another one takes its turn when it has 1.25 times as much."},
};

void follow_row(const ViewStatus& view, Requests& out) {
  const Follow& now = view.followed;
  row_label("Follow", "What the camera moves with. It stays where it is in the picture; turn, move and zoom as usual.");
  const auto& shown = *std::ranges::find(follow_choices, now.what == Followed::part ? Followed::nothing : now.what,
                                         &FollowChoice::value);
  if (!begin_combo("follow", now.what == Followed::part ? now.name.c_str() : shown.title)) return;
  const auto offer = [&](const Follow& choice, const char* title, const char* word, const char* notes) {
    const bool possible = choice.what != Followed::body || view.picked;
    if (ImGui::Selectable(title, choice == now, possible ? 0 : ImGuiSelectableFlags_Disabled)) out.push_back(choice);
    ui_mark("follow", word);
    tooltip(notes);
  };
  for (const FollowChoice& choice : follow_choices) {
    offer({choice.value, {}}, choice.title, std::string{word_of(choice.value)}.c_str(), choice.notes);
  }
  for (const std::string& part : view.parts) {
    offer({Followed::part, part}, part.c_str(), part.c_str(), "The centre of mass of this part of the scene.");
  }
  ImGui::EndCombo();
}

void quantity_row(const render::Appearance& current, render::Appearance& edited) {
  row_label("Colour by", "The quantity that a body's colour shows.");
  const BodyColour& shown = body_colour(current);
  if (!begin_combo("colour-by", shown.title)) return;
  for (const BodyColour* colour : body_colours()) {
    if (ImGui::Selectable(colour->title, colour == &shown)) edited.colour_by = colour->by;
    ui_mark("colour-by", colour->id);
    tooltip(colour->notes);
  }
  ImGui::EndCombo();
}

void colour_map_row(const std::vector<std::string>& maps, const render::Appearance& current,
                    render::Appearance& edited) {
  row_label("Colours", "The colour map, from low to high. Automatic: as suits the quantity.");
  const auto shown = static_cast<std::size_t>(render::shown_colour_map(current));
  const bool automatic = current.colour_map == render::automatic_colour_map;
  const std::string name = shown < maps.size() ? maps[shown] : std::string{};
  const std::string prefix = automatic ? "Automatic: " : "";
  const std::string brief = prefix + name.substr(0, name.find(':'));  // a colon is followed by a description
  if (!begin_combo("colour-map", prefix + name, 0, brief)) return;
  if (ImGui::Selectable("Automatic", automatic)) edited.colour_map = render::automatic_colour_map;
  ui_mark("colour-map", "auto");
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (ImGui::Selectable(maps[i].c_str(), !automatic && i == shown)) edited.colour_map = static_cast<int>(i);
    ui_mark("colour-map", maps[i]);
  }
  ImGui::EndCombo();
}

/// Draws the entry of one end of the colour range. Enter stores the number in `end`; an empty text clears it.
void range_end(const char* id, float automatic, float width, std::string& content, std::optional<float>& end) {
  const std::optional<float> number = parsed_number<float>(content);
  const bool known = content.empty() || (number && std::isfinite(*number) && SetAppearance::ends.contains(*number));
  ImGui::SetNextItemWidth(width);
  if (!text_field(id, format_value(automatic).c_str(), content, !known) || !known) return;
  end = content.empty() ? std::nullopt : number;
}

void range_rows(const ViewStatus& view, ColourRangeDraft& draft, render::Appearance& edited) {
  const render::Appearance& current = view.appearance;
  row_label("Scale", "How values are spread over the colours. Auto: velocities linear, all others logarithmic.");
  choice("scale", "auto", edited.scale, render::Scale::automatic);
  ImGui::SameLine();
  choice("scale", "linear", edited.scale, render::Scale::linear);
  ImGui::SameLine();
  choice("scale", "log", edited.scale, render::Scale::logarithmic);

  row_label(
      "Range",
      "The values with the first and the last colour. Empty: automatic. An automatic range follows the bodies: it "
      "grows within a second and shrinks within a quarter of a minute. Framing all bodies renews it at once.");
  if (draft.low != current.low || draft.high != current.high) {
    const auto text_of = [](std::optional<float> end) { return end ? shortest_text(*end) : std::string{}; };
    draft = {current.low, current.high, text_of(current.low), text_of(current.high)};
  }
  const float gap = ImGui::GetStyle().ItemSpacing.x, half = (ImGui::GetContentRegionAvail().x - gap) / 2;
  const Legend& legend = view.legend;
  range_end("range-low", legend.low, half, draft.low_text, edited.low);
  ImGui::SameLine();
  range_end("range-high", legend.high, half, draft.high_text, edited.high);
}

}  // namespace

static_assert(SetAppearance::scales.contains(SetAppearance::exposure_slider.least));
static_assert(SetAppearance::scales.contains(SetAppearance::size_slider.least));

void appearance_panel(const Status&, const ViewStatus& view, PanelState& state, Requests& out) {
  if (!section("appearance", "Appearance", false)) return;
  const render::Appearance& current = view.appearance;
  render::Appearance edited = current;

  row_label("Look", "Lights: each body shines in the colour of its value. Density: mass per area, by its logarithm.");
  choice("look", "lights", edited.look, render::Look::lights);
  ImGui::SameLine();
  choice("look", "density", edited.look, render::Look::density);
  if (current.look == render::Look::lights) {
    quantity_row(current, edited);
  }
  colour_map_row(view.colour_maps, current, edited);

  const bool has_range = !view.legend.quantity.empty() && view.legend.parts.empty() && !render::shows_parts(current);
  if (has_range) range_rows(view, state.colours, edited);

  row_label("Exposure", "Scales the light before tone mapping. Ctrl-click to type a value.");
  if (const auto value = log_slider("exposure", current.exposure, SetAppearance::exposure_slider, "%.3g"))
    edited.exposure = *value;
  ImGui::Checkbox("Automatic exposure", &edited.auto_exposure);
  ui_mark("auto-exposure");
  tooltip("Exposes for the brightest bodies in view. The exposure above then scales that.");
  row_label("Sprite size", "Scales every body's sprite. Ctrl-click to type a value.");
  if (const auto value = log_slider("sprite-size", current.sprite_scale, SetAppearance::size_slider, "%.3g"))
    edited.sprite_scale = *value;
  row_label("Drawing",
            "Splats: compute shaders add up the bodies, fastest where the driver has 64-bit atomics. Sprites: the "
            "rasterizer draws each body. Both give the same picture.");
  choice("drawing", "auto", edited.drawing, render::Drawing::automatic);
  ImGui::SameLine();
  choice("drawing", "splats", edited.drawing, render::Drawing::splats);
  ImGui::SameLine();
  choice("drawing", "sprites", edited.drawing, render::Drawing::sprites);
  if (edited.look != current.look || edited.colour_by != current.colour_by) edited.low = edited.high = std::nullopt;
  if (!(edited == current)) out.push_back(SetAppearance{edited});

  theme_row(view, out);
  overlay_rows(view, out);
  bool axes = view.overlays.axes.on;
  if (ImGui::Checkbox("Axes", &axes)) out.push_back(ShowAxes{axes});
  ui_mark("axes");
  tooltip("The axes x, y and z from the middle of the scene, with tick marks at round lengths.");
  ImGui::SameLine();
  bool legend = view.legend_shown;
  if (ImGui::Checkbox("Legend", &legend)) out.push_back(ShowLegend{legend});
  ui_mark("legend");
  tooltip("What the colours and lengths of the picture mean.");
  ImGui::SameLine();
  bool presentation = view.presentation;
  if (ImGui::Checkbox("Presentation", &presentation)) out.push_back(SetPresentation{presentation});
  ui_mark("presentation");
  tooltip("A few numbers in large type instead of the panels, for an audience. Shift+P or Esc shows the panels again.");
  bool vsync = view.vsync, fullscreen = view.fullscreen;
  if (ImGui::Checkbox("Wait for the display", &vsync)) out.push_back(SetVsync{vsync});
  ui_mark("vsync");
  tooltip("Vertical synchronization. If it is off, frames are drawn as fast as possible.");
  ImGui::SameLine();
  if (ImGui::Checkbox("Full screen", &fullscreen)) out.push_back(ToggleFullscreen{});
  ui_mark("fullscreen");
  follow_row(view, out);
  const ImVec2 half{(ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2, 0};
  if (ImGui::Button("Frame all bodies", half)) out.push_back(FrameAll{});
  ui_mark("frame-all");
  ImGui::SameLine();
  if (ImGui::Button("Reset camera", half)) out.push_back(ResetCamera{});
  ui_mark("reset-camera");
}

}  // namespace orrery
