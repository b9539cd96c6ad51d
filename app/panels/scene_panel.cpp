#include <imgui.h>

#include <algorithm>
#include <array>
#include <string>

#include "app/panels/format.h"
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

void scene_choice(SceneRequest& draft) {
  const SceneInfo* current = known_scene(draft.scene);
  row_label("Scene", "Where the bodies start.");
  if (!begin_combo("scene", current ? current->title : draft.scene.c_str())) {
    if (current) tooltip(current->notes);
    return;
  }
  for (const SceneInfo* scene : scenes()) {
    if (ImGui::Selectable(scene->title, scene == current) && scene != current) {
      draft.scene = scene->id;
      const bool keep =
          scene->fixed_count == 0 && current && current->fixed_count == 0 && draft.count >= scene->min_count;
      if (!keep) draft.count = scene->fixed_count > 0 ? scene->fixed_count : scene->default_count;
    }
    ui_mark("scene", scene->id);
    tooltip(scene->notes);
  }
  ImGui::EndCombo();
}

void count_entry(SceneRequest& draft) {
  const SceneInfo* scene = known_scene(draft.scene);
  const float button = em(4.2f);
  row_label("Bodies", "How many; k is 1024 and M is 1024 k.", button + ImGui::GetStyle().ItemSpacing.x);
  ImGui::BeginDisabled(scene && scene->fixed_count > 0);
  ImGui::InputScalar("##count", ImGuiDataType_S64, &draft.count);
  ui_mark("count");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(button);
  const auto preset = std::ranges::find(presets, draft.count, &Preset::count);
  if (begin_combo("preset", preset != presets.end() ? preset->name : "", ImGuiComboFlags_HeightLargest)) {
    for (const Preset& choice : presets) {
      if (ImGui::Selectable(choice.name, choice.count == draft.count)) draft.count = choice.count;
      ui_mark("preset", choice.name);
    }
    ImGui::EndCombo();
  }
  ImGui::EndDisabled();
}

}  // namespace

void scene_panel(const Status& status, const ViewStatus&, Requests& out) {
  if (!section("scene", "Scene", false)) return;
  // What is being put together; starts anew whenever another scene is loaded.
  static SceneRequest loaded, draft;
  static std::string file;
  if (!(loaded == status.scene)) {
    loaded = draft = status.scene;
    if (!draft.file.empty()) {
      file = draft.file;
      const SceneInfo* scene = known_scene(draft.scene);
      draft.count = scene ? scene->default_count : 0;
      draft.file.clear();
    }
  }

  scene_choice(draft);
  count_entry(draft);
  const float button = em(4.2f), reserved = button + ImGui::GetStyle().ItemSpacing.x;
  row_label("Seed", "The same seed gives the same bodies on every machine.", reserved);
  ImGui::InputScalar("##seed", ImGuiDataType_U64, &draft.seed);
  ui_mark("seed");
  ImGui::SameLine();
  if (accent_button("Load", {button, 0})) out.push_back(LoadScene{draft});
  ui_mark("load");

  row_label("File", "A TIPSY snapshot on disk.", reserved);
  bool open = text_field("file", "path of a snapshot", file);
  ImGui::SameLine();
  ImGui::BeginDisabled(file.empty());
  open |= ImGui::Button("Open", {button, 0});
  ui_mark("file.open");
  ImGui::EndDisabled();
  if (open && !file.empty()) out.push_back(LoadScene{SceneRequest{.scene = {}, .file = file, .count = 0}});
}

}  // namespace orrery
