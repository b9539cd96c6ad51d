#pragma once

#include <glm/glm.hpp>
#include <memory>
#include <optional>

#include "app/ui_state/legend.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"
#include "render/passes/strokes.h"

namespace orrery {

/// The cells of a tree and a body's walk through it as boxes in the picture, read a few times per second.
class TreeBoxes {
 public:
  static constexpr double period_s = 0.25;
  static constexpr int most_cells = 1 << 12;

  /// Colour of the cells at this share of the tree's depth, sRGB.
  static glm::vec3 cell_colour(float depth, render::Theme theme);

  /// Cells that the boxes show.
  struct Wanted {
    bool cells = false;
    int level = CellRequest::every_level;
    int walk_of = CellRequest::nobody;
    render::Theme theme = render::Theme::dark;
    friend bool operator==(const Wanted&, const Wanted&) = default;

    bool anything() const { return cells || walk_of != CellRequest::nobody; }
  };

  /// Commands for the simulation now; none while a CPU step is running, or if what is wanted was read while paused.
  /// `now_s` is any time in seconds that only grows.
  std::optional<Command> due(double now_s, const Status& status, const Wanted& wanted);

  /// Takes over the cells that `status` has. Whether the boxes are others than before.
  bool follow(const Status& status, const Wanted& wanted);

  /// Adds the cells that are drawn, and the colours of a walk.
  void describe(Legend& legend) const;
  /// Returns the walk that is drawn; none if there is none.
  std::optional<PickedBody::Walk> walk() const;
  void draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const;

 private:
  render::BoxRenderer cells_;
  render::BoxRenderer whole_{0.3f}, leaves_{0.6f};  // of a walk: the leaves are the smaller ones
  std::shared_ptr<const TreeCells> drawn_;
  Wanted wanted_;  // when drawn
  std::string legend_;
  std::optional<double> asked_s_;
};

}  // namespace orrery
