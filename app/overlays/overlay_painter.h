#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "app/overlays/overlay_lines.h"
#include "app/ui_state/legend.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/passes/body_readback.h"
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
  /// Returns the walk that is drawn; nothing if no walk is drawn.
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

/// The drawn bodies, for what is drawn over them.
struct OverlayScene {
  render::DrawnBodies bodies;
  double time = 0;           ///< simulated, of the drawn bodies
  std::int64_t history = 0;  ///< another number: the bodies were replaced, not moved
  glm::vec3 centre{0};       ///< of the scene
  float radius = 1;          ///< of the scene, > 0
  render::ValueRanges ranges{};
  render::Canvas canvas{};
};

/// Draws trails, arrows, axes and boxes over the bodies, as ViewStatus::overlays asks for. Needs the GL context
/// current.
class OverlayPainter {
 public:
  /// In `lockstep`, what is drawn belongs to the drawn bodies. Otherwise it may be some frames old, and nothing waits.
  explicit OverlayPainter(bool lockstep) : lockstep_{lockstep} {}

  /// Commands for the simulation now. `now_s` is any time in seconds that only grows.
  std::optional<Command> due(double now_s, const Status& status, const ViewStatus& view);
  /// Call once per frame before draw(). Fills in the legend's part of `view`, its labels and the picked body's walk.
  /// Returns whether the picture changes even if bodies and camera do not.
  bool update(const OverlayScene& scene, const render::OrbitCamera& camera, const Status& status, ViewStatus& view);
  void draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const;

 private:
  struct Shown {  // what the lines depend on besides the bodies
    Overlays overlays;
    render::Appearance appearance;
    std::optional<int> picked;
    friend bool operator==(const Shown&, const Shown&) = default;
  };
  struct Lines {  // made when first needed
    render::LineRenderer trails, others;
  };

  bool follow_bodies(const OverlayScene& scene, const ViewStatus& view);
  double lasting_trail_length(const OverlayScene& scene);
  bool read_bodies(const OverlayScene& scene, double interval);
  void draw_trails(const OverlayScene& scene, const ViewStatus& view);
  void draw_others(const OverlayScene& scene, const render::OrbitCamera& camera, ViewStatus& view);

  const bool lockstep_;
  TreeBoxes boxes_;
  std::optional<Lines> lines_;
  std::optional<render::BodyReadback> readback_;  // made when first needed
  BodyTracks tracks_;
  std::vector<int> sample_;          // of bodies that are read
  std::optional<double> read_time_;  // of the latest reading that was asked for
  std::int64_t history_ = 0;         // of the tracks
  double trail_length_ = 0;          // the usual one, of the tracks
  std::optional<Shown> shown_;       // by the last update()
  bool trails_drawn_ = false;
};

}  // namespace orrery
