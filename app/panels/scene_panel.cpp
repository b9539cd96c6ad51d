#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "app/panels/count_entry.h"
#include "app/panels/sections.h"
#include "app/panels/ui_mark.h"
#include "app/panels/widgets.h"

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

/// Why the scene cannot be loaded with the count that is entered, one line; empty if it can.
std::string refusal(const SceneDraft& draft) {
  const SceneInfo* scene = known_scene(draft.scene);
  if (!scene) return "choose a scene";
  const std::optional<std::int64_t> count = count_of(draft.count);
  constexpr int most = std::numeric_limits<int>::max();
  if (!count || *count < scene->min_count)
    return fmt::format("{}: a whole number from {} to {}, such as 16384, 16k or 1M", scene->title, scene->min_count,
                       most);
  return {};
}

void follow(const SceneRequest& loaded, SceneDraft& draft) {
  if (draft.loaded == loaded) return;
  draft.loaded = loaded;
  draft.scene = loaded.scene;
  draft.count = std::to_string(loaded.count);
  draft.seed = loaded.seed;
  if (loaded.file.empty()) return;
  draft.file = loaded.file;
  if (const SceneInfo* scene = known_scene(draft.scene)) draft.count = any_count_of(*scene);
}

void scene_choice(SceneDraft& draft) {
  const SceneInfo* current = known_scene(draft.scene);
  row_label("Scene", "Where the bodies start.");
  if (!begin_combo("scene", current ? current->title : draft.scene.c_str())) {
    if (current) tooltip(current->notes);
    return;
  }
  for (const SceneInfo* scene : scenes()) {
    if (ImGui::Selectable(scene->title, scene == current) && scene != current) {
      draft.scene = scene->id;
      const bool keep = scene->fixed_count == 0 && current && current->fixed_count == 0 && refusal(draft).empty();
      if (!keep) draft.count = any_count_of(*scene);
    }
    ui_mark("scene", scene->id);
    tooltip(scene->notes);
  }
  ImGui::EndCombo();
}

void count_entry(SceneDraft& draft, const std::string& refused) {
  const SceneInfo* scene = known_scene(draft.scene);
  const float button = em(4.2f);
  row_label("Bodies", "How many; k is 1024 and M is 1024 k.", button + ImGui::GetStyle().ItemSpacing.x);
  ImGui::BeginDisabled(scene && scene->fixed_count > 0);
  if (!refused.empty()) ImGui::PushStyleColor(ImGuiCol_Text, theme::bad);
  text_field("count", "16384", draft.count);
  if (!refused.empty()) ImGui::PopStyleColor();
  tooltip(refused);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(button);
  const auto preset = std::ranges::find(presets, count_of(draft.count).value_or(0), &Preset::count);
  if (begin_combo("preset", preset != presets.end() ? preset->name : "", ImGuiComboFlags_HeightLargest)) {
    for (const Preset& choice : presets) {
      if (ImGui::Selectable(choice.name, preset != presets.end() && choice.count == preset->count))
        draft.count = std::to_string(choice.count);
      ui_mark("preset", choice.name);
    }
    ImGui::EndCombo();
  }
  ImGui::EndDisabled();
}

}  // namespace

void scene_panel(const Status& status, const ViewStatus&, PanelState& state, Requests& out) {
  if (!section("scene", "Scene", false)) return;
  SceneDraft& draft = state.scene;
  follow(status.scene, draft);

  scene_choice(draft);
  const std::string refused = refusal(draft);
  count_entry(draft, refused);
  const float button = em(4.2f), reserved = button + ImGui::GetStyle().ItemSpacing.x;
  row_label("Seed", "The same seed gives the same bodies on every machine.", reserved);
  ImGui::InputScalar("##seed", ImGuiDataType_U64, &draft.seed);
  ui_mark("seed");
  ImGui::SameLine();
  ImGui::BeginDisabled(!refused.empty());
  if (accent_button("Load", {button, 0})) {
    out.push_back(
        LoadScene{SceneRequest{.scene = draft.scene, .count = count_of(draft.count).value_or(0), .seed = draft.seed}});
  }
  ui_mark("load");
  ImGui::EndDisabled();
  tooltip(refused);

  row_label("File", "A TIPSY snapshot on disk.", reserved);
  bool open = text_field("file", "path of a snapshot", draft.file);
  ImGui::SameLine();
  ImGui::BeginDisabled(draft.file.empty());
  open |= ImGui::Button("Open", {button, 0});
  ui_mark("file.open");
  ImGui::EndDisabled();
  if (open && !draft.file.empty()) out.push_back(LoadScene{SceneRequest{.scene = {}, .file = draft.file, .count = 0}});
}

}  // namespace orrery
