#include "app/overlays/tree_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/overlays/ink.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

// Cells have the hues from blue to cyan, and a walk those that are far from them, also for colour-blind people.
constexpr Ink outermost{{0.26f, 0.42f, 0.95f}, {0.10f, 0.20f, 0.70f}},
    innermost{{0.35f, 0.80f, 0.95f}, {0.0f, 0.50f, 0.70f}};
constexpr Ink whole{{0.95f, 0.88f, 0.25f}, {0.80f, 0.52f, 0.0f}},
    one_by_one{{1.0f, 0.30f, 0.55f}, {0.85f, 0.0f, 0.35f}};
constexpr float beside_a_walk = 0.6f;  // strength of cells: many of them are also boxes of the walk
constexpr float few_boxes = 300;       // more boxes are fainter, so that the bodies stay visible

float strength_of(std::size_t boxes) {
  return std::min(1.0f, std::sqrt(few_boxes / static_cast<float>(std::max<std::size_t>(boxes, 1))));
}

render::DrawnBox box_of(const TreeCell& cell, glm::vec4 colour) {
  const auto& [x, y, z] = cell.center;
  return {{x, y, z}, cell.half_size, colour};
}

using Boxes = std::vector<render::DrawnBox>;

Boxes boxes_of_cells(const TreeCells& read, std::span<const TreeCell> cells, render::Theme theme,
                     float share_of_strength) {
  Boxes boxes;
  const bool one_level = read.asked.level != CellRequest::every_level;
  const auto deepest = static_cast<float>(std::max(cells.empty() ? 0 : cells.back().level, 1));
  const float strength = share_of_strength * strength_of(cells.size()) * (theme == render::Theme::light ? 1.6f : 1.0f);
  for (const TreeCell& cell : cells) {
    const float depth = one_level ? 0.5f : static_cast<float>(cell.level) / deepest;
    boxes.push_back(
        box_of(cell, {TreeBoxes::cell_colour(depth, theme), std::min(glm::mix(0.40f, 0.18f, depth) * strength, 1.0f)}));
  }
  return boxes;
}

Boxes boxes_of_walk(std::span<const TreeCell> cells, glm::vec4 colour) {
  Boxes boxes;
  for (const TreeCell& cell : cells) boxes.push_back(box_of(cell, colour));
  return boxes;
}

/// The last level may have been read in part. Its cells differ between reads: they would flicker.
std::span<const TreeCell> whole_levels(const TreeCells& read) {
  std::span<const TreeCell> cells = read.cells;
  if (read.asked.level != CellRequest::every_level || std::ssize(cells) == read.count) return cells;
  const int last = cells.empty() ? 0 : cells.back().level;
  while (!cells.empty() && last > 0 && cells.back().level == last) cells = cells.first(cells.size() - 1);
  return cells;
}

std::string legend_of(const TreeCells& read, std::span<const TreeCell> drawn) {
  const bool part = std::ssize(drawn) < read.count;
  const std::string cells = part ? fmt::format("{} of {}", format_count(std::ssize(drawn)), counted(read.count, "cell"))
                                 : counted(read.count, "cell");
  if (read.asked.level != CellRequest::every_level) {
    return fmt::format("level {}: {}", read.asked.level, read.count == 0 ? "no cells" : cells);
  }
  return fmt::format("levels 0 to {}: {}", drawn.empty() ? 0 : drawn.back().level, cells);
}

}  // namespace

glm::vec3 TreeBoxes::cell_colour(float depth, render::Theme theme) {
  return glm::mix(outermost.in(theme), innermost.in(theme), depth);
}

std::optional<Command> TreeBoxes::due(double now_s, const Status& status, const Wanted& wanted) {
  if (!wanted.anything() || status.non_finite || (status.busy && status.backend == Backend::cpu)) return {};
  if (!status.kernel->is_tree) return {};
  const ReadTreeCells read{wanted.cells ? most_cells : 1, wanted.cells ? wanted.level : CellRequest::every_level,
                           wanted.walk_of};
  const TreeCells* const known = status.tree_cells.get();
  const bool same = known && known->asked == CellRequest{read.most, read.level, read.walk_of};
  if (status.paused && (!status.tree || (same && known->step == status.step))) return {};
  if (same && asked_s_ && now_s - *asked_s_ < period_s) return {};
  asked_s_ = now_s;
  return read;
}

bool TreeBoxes::follow(const Status& status, const Wanted& wanted) {
  const std::shared_ptr<const TreeCells> read = wanted.anything() ? status.tree_cells : nullptr;
  if (read == drawn_ && wanted == wanted_) return false;
  drawn_ = read;
  wanted_ = wanted;
  legend_.clear();
  Boxes cells, whole_cells, leaves;
  const bool walks = read && read->walk && wanted.walk_of == read->asked.walk_of;
  if (read && wanted.cells) {
    const std::span<const TreeCell> drawn = whole_levels(*read);
    cells = boxes_of_cells(*read, drawn, wanted.theme, walks ? beside_a_walk : 1.0f);
    legend_ = legend_of(*read, drawn);
  }
  if (walks) {
    const BodyWalk& walk = *read->walk;
    whole_cells = boxes_of_walk(walk.cells, whole.in(wanted.theme, 0.6f * strength_of(walk.cells.size())));
    leaves = boxes_of_walk(walk.leaves, one_by_one.in(wanted.theme, 0.85f));
  }
  cells_.set(cells);
  whole_.set(whole_cells);
  leaves_.set(leaves);
  return true;
}

void TreeBoxes::draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const {
  for (const render::BoxRenderer* boxes : {&cells_, &whole_, &leaves_}) boxes->draw(camera, canvas);
}

void TreeBoxes::describe(Legend& legend) const {
  legend.cells = {legend_, as_values(cell_colour(0.5f, wanted_.theme))};
  if (!walk()) return;
  legend.walk = {{"cells met as a whole", as_values(whole.in(wanted_.theme))},
                 {"leaves met body by body", as_values(one_by_one.in(wanted_.theme))}};
}

std::optional<PickedBody::Walk> TreeBoxes::walk() const {
  if (!drawn_ || !drawn_->walk || wanted_.walk_of != drawn_->asked.walk_of) return {};
  return PickedBody::Walk{std::ssize(drawn_->walk->cells), drawn_->walk->bodies};
}

}  // namespace orrery
