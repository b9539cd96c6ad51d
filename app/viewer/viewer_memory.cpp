// What a window remembers of the one before, and the run that it continues: a part of Viewer.
#include <fmt/format.h>

#include "app/runs/run_checkpoint.h"
#include "app/text/console.h"
#include "app/viewer/viewer.h"
#include "compute/core/failure_text.h"

namespace orrery {
namespace {

/// Without the theme, which is kept beside it, and without ends of the range, which suit one scene.
render::Appearance for_any_scene(render::Appearance appearance) {
  appearance.theme = {};
  appearance.low = appearance.high = std::nullopt;
  return appearance;
}

}  // namespace

/// Repeatable runs neither have a memory nor leave one.
WindowMemory Viewer::recalled(const ViewOptions& options, bool lockstep) {
  if (lockstep || options.fresh) return {};
  try {
    return read_window_memory(usual_memory_file());
  } catch (const std::exception& error) {
    console::complain(fmt::format("the window of the last session is not restored: {}", failure_text(error)));
    return {};
  }
}

/// Nothing is compared yet: the results stand in for that tab.
void Viewer::restore(const WindowMemory& memory) {
  for (const auto& [id, open] : memory.sections) panel_state_.folds[id] = {open, true};
  if (memory.lab) carry_out(memory.lab->tab == LabTab::compare ? ShowLab{LabTab::results} : *memory.lab);
  if (memory.appearance) carry_out(*memory.appearance);
  if (memory.theme) carry_out(*memory.theme);
}

/// A failure does not change the exit status: the run itself is whole. A fresh start leaves what was remembered.
void Viewer::remember() {
  if (lockstep_ || options_.fresh) return;
  try {
    write_window_memory(usual_memory_file(), present_memory(present_place()));
  } catch (const std::exception& error) {
    console::complain(fmt::format("the window is not remembered: {}", failure_text(error)));
  }
  keep_run();
}

/// As remember(): a failure does not change the exit status. A run that was handed over goes on elsewhere.
void Viewer::keep_run() {
  if (handed_over_) return;
  try {
    if (const std::string failure = autosave_.finish(lane_.simulation()); !failure.empty()) complain(failure);
  } catch (const std::exception& error) {
    console::complain(fmt::format("the run is not kept: {}", failure_text(error)));
  }
}

std::optional<WindowPlace> Viewer::present_place() {
  return rescue_.outside([this] { return surface_->place(); });
}

WindowMemory Viewer::present_memory(const std::optional<WindowPlace>& place) {
  WindowMemory memory;
  for (const auto& [id, fold] : panel_state_.folds) {
    if (fold.chosen) memory.sections.emplace(id, fold.open);
  }
  const LabState& lab = panel_state_.lab;
  if (lab.folded) memory.lab = ShowLab{*lab.folded ? std::nullopt : std::optional{lab.tab}};
  if (appearance_chosen_) memory.appearance = SetAppearance{for_any_scene(view_.appearance)};
  if (view_.appearance.theme != render::Theme::dark) memory.theme = SetTheme{view_.appearance.theme};
  memory.place = place;
  return memory;
}

/// A question of the window's start: none where the last window is not to be remembered.
void Viewer::follow_autosave() {
  if (const std::string failure = autosave_.follow(lane_.simulation()); !failure.empty()) complain(failure);
  view_.last_run_words = autosave_.last_run_words();
  view_.last_run_age_s = continued_ ? std::nullopt : autosave_.last_run_age_s();
}

void Viewer::carry_out(const ContinueLastRun&) {
  if (!autosave_.last_run()) throw std::runtime_error("there is no run of an earlier window to continue");
  refuse_while_comparing("the last run continues alone");
  resume(find_checkpoint(autosave_.last_run()->string()));
  autosave_.continued(lane_.status().step);
  continued_ = true;
}

void Viewer::resume(const FoundCheckpoint& found) {
  const RunCheckpoint& checkpoint = found.checkpoint;
  lane_.simulation().resume(checkpoint.setup, checkpoint.state, checkpoint.step, checkpoint.hermite);
  history_.lose(lane_.simulation(),
                "the run continues a checkpoint, where no replay can start: restart it, or load a scene");
  follow_scene();  // before the note, which commands would remove
  if (!found.note.empty()) complain(found.note);
}

}  // namespace orrery
