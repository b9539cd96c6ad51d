#pragma once

#include <memory>
#include <optional>

#include "compute/sim/command.h"
#include "render/passes/box_renderer.h"

namespace orrery {

/// The cells of a tree as boxes in the picture, read a few times per second.
class TreeBoxes {
 public:
  static constexpr double period_s = 0.25;
  static constexpr int most_cells = 1 << 12;

  /// What to ask of the simulation now; none while a CPU step is running, or if the present tree's were read while
  /// paused. `now_s` is any time in seconds that only grows.
  std::optional<Command> due(double now_s, const Status& status, bool shown);

  /// Takes over the cells that `status` has; none where they are not `shown`. Whether the boxes are others than before.
  bool follow(const Status& status, bool shown);

  const render::BoxRenderer& renderer() const { return renderer_; }

 private:
  render::BoxRenderer renderer_;
  std::shared_ptr<const TreeCells> drawn_;
  std::optional<double> asked_s_;
};

}  // namespace orrery
