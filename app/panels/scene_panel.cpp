#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "app/panels/kit/format.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

using theme::em;

struct Preset {
  const char* name;
  std::int64_t count;
};
constexpr std::array presets{Preset{"1k", 1 << 10},   Preset{"2k", 1 << 11},   Preset{"4k", 1 << 12},
                             Preset{"8k", 1 << 13},   Preset{"16k", 1 << 14},  Preset{"32k", 1 << 15},
                             Preset{"64k", 1 << 16},  Preset{"128k", 1 << 17}, Preset{"256k", 1 << 18},
                             Preset{"512k", 1 << 19}, Preset{"1M", 1 << 20}};

const SceneInfo* known_scene(const std::string& id) {
  const auto all = scenes();
  const auto found = std::ranges::find(all, id, [](const SceneInfo* scene) { return scene->id; });
  return found != all.end() ? *found : nullptr;
}

std::string any_count_of(const SceneInfo& scene) {
  return std::to_string(scene.fixed_count > 0 ? scene.fixed_count : scene.default_count);
}

/// Returns why the scene cannot be loaded with the entered count, and the valid counts; empty if it can.
std::string count_refusal(const SceneDraft& draft) {
  if (draft.scene.empty()) return {};
  const SceneInfo* scene = known_scene(draft.scene);
  if (!scene) return "choose a scene";
  const std::optional<std::int64_t> count = parsed_count(draft.count);
  if (!count || *count < scene->min_count)
    return fmt::format("Bodies cannot be '{}'; it must be a whole number from {} to {}, such as 16384, 16k or 1M",
                       draft.count, format_count(scene->min_count), format_count(body_counts.most));
  return {};
}

std::string seed_refusal(const SceneDraft& draft) {
  if (draft.scene.empty() || seed_of(draft.seed)) return {};
  return fmt::format("Seed cannot be '{}'; it must be a whole number from 0 to {}", draft.seed,
                     format_count(std::numeric_limits<std::int64_t>::max()));
}

SceneRequest request_of(const SceneDraft& draft) {
  if (draft.scene.empty()) return {.scene = {}, .file = draft.loaded.file, .count = 0, .hints = draft.loaded.hints};
  return {
      .scene = draft.scene, .count = parsed_count(draft.count).value_or(0), .seed = seed_of(draft.seed).value_or(1)};
}

/// Returns whether the chosen scene differs from the loaded one.
bool waits_for_load(const SceneDraft& draft) {
  return !draft.scene.empty() && request_of(draft) != draft.loaded;
}

void follow(const SceneRequest& loaded, SceneDraft& draft) {
  if (draft.loaded == loaded) return;
  const bool generated = loaded.file.empty();
  draft.loaded = loaded;
  draft.scene = generated ? loaded.scene : std::string{};
  draft.count = std::to_string(loaded.count);
  draft.seed = std::to_string(loaded.seed);
  if (!generated) draft.file = loaded.file;
}

void choose(const SceneInfo& scene, SceneDraft& draft) {
  const SceneInfo* current = known_scene(draft.scene);
  const bool keep = scene.fixed_count == 0 && current && current->fixed_count == 0 && count_refusal(draft).empty();
  draft.scene = scene.id;
  if (!keep) draft.count = any_count_of(scene);
}

void scene_choice(const Status& status, SceneDraft& draft) {
  const SceneInfo* current = known_scene(draft.scene);
  row_label("Scene", "The initial positions and velocities of the bodies.");
  const bool of_file = draft.scene.empty();
  if (!begin_combo("scene", of_file ? status.scene_name.c_str() : current ? current->title : draft.scene.c_str())) {
    tooltip(of_file ? draft.loaded.file : current ? std::string{current->notes} : std::string{});
    return;
  }
  if (!draft.loaded.file.empty()) {
    if (ImGui::Selectable(status.scene_name.c_str(), of_file)) draft.scene.clear();
    ui_mark("scene", "file");
    tooltip(draft.loaded.file);
  }
  for (const SceneInfo* scene : scenes()) {
    if (ImGui::Selectable(scene->title, scene == current) && scene != current) choose(*scene, draft);
    ui_mark("scene", scene->id);
    tooltip(scene->notes);
  }
  ImGui::EndCombo();
}

void preset_choice(SceneDraft& draft, float width) {
  ImGui::SetNextItemWidth(width);
  const auto preset = std::ranges::find(presets, parsed_count(draft.count).value_or(0), &Preset::count);
  if (!begin_combo("preset", preset != presets.end() ? preset->name : "", ImGuiComboFlags_HeightLargest)) return;
  for (const Preset& choice : presets) {
    if (ImGui::Selectable(choice.name, preset != presets.end() && choice.count == preset->count))
      draft.count = std::to_string(choice.count);
    ui_mark("preset", choice.name);
  }
  ImGui::EndCombo();
}

/// Draws the options of a generator. Returns whether Enter ended an entry.
bool generator_entries(SceneDraft& draft, float button, float reserved) {
  const SceneInfo* scene = known_scene(draft.scene);
  row_label("Bodies", "Number of bodies. k = 1024, M = 1024 k.", reserved);
  ImGui::BeginDisabled(scene && scene->fixed_count > 0);
  bool entered = text_field("count", "16384", draft.count, !count_refusal(draft).empty());
  ImGui::SameLine();
  preset_choice(draft, button);
  ImGui::EndDisabled();
  row_label("Seed", "The same seed gives the same bodies on every machine.", reserved);
  entered |= text_field("seed", "1", draft.seed, !seed_refusal(draft).empty());
  return entered;
}

}  // namespace

void scene_panel(const Status& status, const ViewStatus&, PanelState& state, Requests& out) {
  if (!section("scene", "Scene", false)) return;
  SceneDraft& draft = state.scene;
  follow(status.scene, draft);
  const float button = em(4.2f), reserved = button + ImGui::GetStyle().ItemSpacing.x;

  scene_choice(status, draft);
  bool load = false;
  if (draft.scene.empty()) {
    row_label("Bodies", "Number of bodies in the file.", reserved);
    text(format_count(status.count), theme::dim);
    ui_mark("count.of-file");
    ImGui::SameLine(ImGui::GetContentRegionMax().x - button);
  } else {
    load = generator_entries(draft, button, reserved);
    ImGui::SameLine();
  }
  const std::string refusals[] = {count_refusal(draft), seed_refusal(draft)};
  const bool refused = std::ranges::any_of(refusals, [](const std::string& why) { return !why.empty(); });
  const bool waits = !refused && waits_for_load(draft);
  ImGui::BeginDisabled(refused);
  load |= waits ? accent_button("Load", {button, 0}) : ImGui::Button("Load", {button, 0});
  ui_mark("load");
  ImGui::EndDisabled();
  tooltip(refused ? "" : "Loads this scene; its bodies start from their first state.");
  if (waits) {
    wrapped_text("Not loaded yet: press Load, or Enter in a field.", theme::warn, theme::Font::small);
    ui_mark("load.waits");
  }
  for (const std::string& why : refusals) {
    if (!why.empty()) wrapped_text(why, theme::bad, theme::Font::small);
  }
  if (load && !refused) out.push_back(LoadScene{request_of(draft)});

  if (status.units) {
    row_label("Units", "What 1 is in the numbers of this scene: a length, a mass and a speed, with G = 1.", reserved);
    wrapped_text(units_text(*status.units), theme::dim);
    ui_mark("units");
  }

  row_label("File", "A file of bodies; ~ stands for your home folder. Formats: " + snapshot_titles(), reserved);
  bool open = text_field("file", "path", draft.file);
  ImGui::SameLine();
  ImGui::BeginDisabled(draft.file.empty());
  open |= ImGui::Button("Open", {button, 0});
  ui_mark("file.open");
  ImGui::EndDisabled();
  if (open && !draft.file.empty()) out.push_back(LoadScene{{.scene = {}, .file = path_of(draft.file), .count = 0}});
}

}  // namespace orrery
