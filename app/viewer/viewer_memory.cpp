// What a window remembers of the one before: a part of Viewer.
#include <fmt/format.h>

#include "app/text/console.h"
#include "app/text/printable.h"
#include "app/viewer/viewer.h"

namespace orrery {

/// Repeatable runs neither have a memory nor leave one.
WindowMemory Viewer::recalled(const ViewOptions& options, bool lockstep) {
  if (lockstep || options.fresh) return {};
  try {
    return read_window_memory(usual_memory_file());
  } catch (const std::exception& error) {
    console::complain(printable(fmt::format("the window of the last session is not restored: {}", error.what())));
    return {};
  }
}

void Viewer::restore(const WindowMemory& memory) {
  for (const auto& [id, open] : memory.sections) panel_state_.folds[id] = {open, true};
  if (memory.lab) carry_out(*memory.lab);
  if (memory.appearance) carry_out(*memory.appearance);
}

/// A failure does not change the exit status: the run itself is whole.
void Viewer::remember() {
  if (lockstep_) return;
  WindowMemory memory;
  for (const auto& [id, fold] : panel_state_.folds) {
    if (fold.chosen) memory.sections.emplace(id, fold.open);
  }
  const LabState& lab = panel_state_.lab;
  if (lab.folded) memory.lab = ShowLab{*lab.folded ? std::nullopt : std::optional{lab.tab}};
  render::Appearance appearance = view_.appearance;
  appearance.low = appearance.high = std::nullopt;  // they suit this scene
  if (!(appearance == render::Appearance{})) memory.appearance = SetAppearance{appearance};
  memory.place = rescue_.outside([this] { return surface_->place(); });
  try {
    write_window_memory(usual_memory_file(), memory);
  } catch (const std::exception& error) {
    console::complain(printable(fmt::format("the window is not remembered: {}", error.what())));
  }
}

}  // namespace orrery
