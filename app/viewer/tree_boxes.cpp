#include "app/viewer/tree_boxes.h"

#include <vector>

namespace orrery {

std::optional<Command> TreeBoxes::due(double now_s, const Status& status, bool shown) {
  if (!shown || status.non_finite || (status.busy && status.backend == Backend::cpu)) return {};
  if (!status.kernel->is_tree) return {};
  if (status.paused && (!status.tree || (status.tree_cells && status.tree_cells->step == status.step))) return {};
  if (asked_s_ && now_s - *asked_s_ < period_s) return {};
  asked_s_ = now_s;
  return ReadTreeCells{most_cells};
}

bool TreeBoxes::follow(const Status& status, bool shown) {
  const std::shared_ptr<const TreeCells> cells = shown ? status.tree_cells : nullptr;
  if (cells == drawn_) return false;
  drawn_ = cells;
  std::vector<render::DrawnBox> boxes;
  if (cells) {
    // The last level was read in part, and its cells differ between reads: they would flicker.
    const bool in_part = std::ssize(cells->cells) >= most_cells;
    boxes.reserve(cells->cells.size());
    for (const TreeCell& cell : cells->cells) {
      if (in_part && cell.level > 0 && cell.level == cells->cells.back().level) break;
      const auto& [x, y, z] = cell.center;
      boxes.push_back({{x, y, z}, cell.half_size, static_cast<float>(cell.level)});
    }
  }
  renderer_.set(boxes);
  return true;
}

}  // namespace orrery
