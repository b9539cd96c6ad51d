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

/// Draws the cells of a tree, and the walk of a body through the tree, as boxes. They are read a few times per second.
class TreeBoxes {
 public:
  static constexpr double period_s = 0.25;
  static constexpr int most_cells = 1 << 12;

  /// Returns the colour of the cells at `depth`, a share of the tree's depth (0 to 1), in sRGB.
  static glm::vec3 cell_colour(float depth, render::Theme theme);

  /// The boxes that are requested.
  struct Wanted {
    bool cells = false;
    int level = CellRequest::every_level;
    int walk_of = CellRequest::nobody;
    render::Theme theme = render::Theme::dark;
    friend bool operator==(const Wanted&, const Wanted&) = default;

    bool anything() const { return cells || walk_of != CellRequest::nobody; }
  };

  /// Returns the command that the simulation needs now, if any. Returns none during a CPU step or, while paused, if the
  /// wanted cells were read already. `now_s` is any time in seconds that never decreases.
  std::optional<Command> due(double now_s, const Status& status, const Wanted& wanted);

  /// Takes over the cells of `status`. Returns whether the boxes changed.
  bool follow(const Status& status, const Wanted& wanted);

  /// Adds the drawn cells and the colours of a walk to the legend.
  void describe(Legend& legend) const;
  /// Returns the drawn walk; none if no walk is drawn.
  std::optional<PickedBody::Walk> walk() const;
  void draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const;

 private:
  render::BoxRenderer cells_;
  render::BoxRenderer whole_{0.3f}, leaves_{0.6f};  // boxes of a walk; the number is BoxRenderer's `widest`
  std::shared_ptr<const TreeCells> drawn_;
  Wanted wanted_;  // request of the drawn boxes
  std::string legend_;
  std::optional<double> asked_s_;
};

/// Scene under the overlays: the drawn bodies and how they are drawn.
struct OverlayScene {
  render::DrawnBodies bodies;
  double time = 0;           ///< simulated time of the drawn bodies
  std::int64_t history = 0;  ///< changes when the bodies are replaced rather than moved
  glm::vec3 centre{0};       ///< centre of the scene
  float radius = 1;          ///< radius of the scene, > 0
  render::ValueRanges ranges{};
  render::Canvas canvas{};
};

/// Draws trails, arrows, axes and boxes over the bodies, as ViewStatus::overlays says. Requires a current GL context.
class OverlayPainter {
 public:
  /// If `lockstep`, overlays belong to the drawn bodies. Otherwise they may be some frames old, and no function waits.
  explicit OverlayPainter(bool lockstep) : lockstep_{lockstep} {}

  /// Returns the command that the simulation needs now, if any. `now_s` is any time in seconds that never decreases.
  std::optional<Command> due(double now_s, const Status& status, const ViewStatus& view);
  /// Updates the overlays. Call once per frame before draw(). Sets the overlays' part of the legend in `view`, its
  /// labels and the picked body's walk. Returns whether the picture changes even if bodies and camera do not.
  bool update(const OverlayScene& scene, const render::OrbitCamera& camera, const Status& status, ViewStatus& view);
  void draw(const render::OrbitCamera& camera, const render::Canvas& canvas) const;

 private:
  struct Shown {  // all that the lines depend on besides the bodies
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
  std::vector<int> sample_;          // indices of the bodies that are read
  std::optional<double> read_time_;  // simulated time of the latest requested reading
  std::int64_t history_ = 0;         // OverlayScene::history of the tracks
  double trail_length_ = 0;          // the default length that the tracks were made for
  std::optional<Shown> shown_;       // state of the last update()
  bool trails_drawn_ = false;
};

}  // namespace orrery
