// Overlays: the lines of trails, arrows, axes and cells, and what draws them over the bodies.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/passes/body_readback.h"
#include "render/passes/strokes.h"

namespace orrery {

/// Tracks of some bodies: the latest state of each, and its positions at equal intervals of simulated time.
class BodyTracks {
 public:
  static constexpr int most_points = 64;

  struct Track {
    render::BodyState state;                ///< state at time()
    std::optional<glm::vec3> acceleration;  ///< mean since the previous reading; none: there was no previous one
    std::vector<glm::vec3> points;          ///< at most most_points, oldest first; the last one is at latest_point()
  };

  void clear() { tracks_.clear(); }
  /// Adds a reading; forgets bodies that it lacks. Points are exactly `interval` > 0 apart in time, interpolated from
  /// positions and velocities of two readings. An earlier reading or another interval restarts the tracks.
  void add(const render::BodySample& sample, double interval);

  /// Returns the tracks, by body index.
  const std::map<int, Track>& tracks() const { return tracks_; }
  double time() const { return time_; }
  double interval() const { return interval_; }
  double latest_point() const { return next_point_ - interval_; }

 private:
  void add_points(const render::BodySample& sample);

  std::map<int, Track> tracks_;
  double time_ = 0, interval_ = 0;
  double next_point_ = 0;  // simulated time of the next point of every track
};

/// Returns the position of a track's body a short time `later` after its reading, by linear motion.
glm::vec3 place_after(const BodyTracks::Track& track, double later);

/// Returns the indices of evenly spaced bodies, at most 1,023 of `count`, and of the picked one. If `every` is false,
/// returns the picked one alone.
std::vector<int> sample_of(int count, bool every, std::optional<int> picked);

/// Returns the default length of trails in simulated time: a fast body then crosses 0.6 `radius`, the scene's radius.
double usual_trail_length(float radius, const render::ValueRanges& ranges);

/// Returns lines along the tracks, which end at the bodies' positions at time `now` and fade into the past. If bodies
/// are coloured by speed, each line has its body's colour. The line of `picked` is highlighted.
std::vector<render::DrawnLine> trail_lines(const BodyTracks& tracks, double now, TrailsOf of, std::optional<int> picked,
                                           const render::Appearance& appearance, const render::ValueRanges& ranges);

/// An amount of something at a position in the world.
struct Amount {
  glm::vec3 place;
  float amount;
};

/// Returns the crowding around each place in the picture: the mean amount per square, whose side is `side` times the
/// picture's height; 0 for a place behind the camera. It changes smoothly as places and camera move.
std::vector<float> crowd_around(std::span<const Amount> amounts, const render::OrbitCamera& camera, float side);

struct Arrows {
  std::vector<render::DrawnLine> lines;
  float value_per_length = 0;  ///< value of an arrow of unit length in the world; 0: there are no arrows
};

/// Returns arrows at the bodies' positions at time `now`. The longest is a tenth of the picture's height. Bodies
/// without a known acceleration get no arrow of it. Crowded arrows are thinned out, except the picked body's.
Arrows arrows_of(const BodyTracks& tracks, double now, Vectors quantity, std::optional<int> picked,
                 const render::OrbitCamera& camera, render::Theme theme);

/// Returns the colour of the arrows, in sRGB. `quantity` must not be `none`.
glm::vec3 arrow_colour(Vectors quantity, render::Theme theme);

struct Axes {
  std::vector<render::DrawnLine> lines;
  std::vector<PictureLabel> labels;  ///< names of the axes, and lengths at tick marks
  double tick = 0;                   ///< distance between two tick marks, in world units
};

/// Returns the axes from `centre`, for a scene of this `radius` > 0 in a picture of `width` x `height` pixels. Tick
/// marks are at round lengths that suit the zoom.
Axes axes_of(glm::vec3 centre, float radius, const render::OrbitCamera& camera, int width, int height,
             render::Theme theme);

/// A colour for a dark background and its counterpart for white, both in sRGB.
struct Ink {
  glm::vec3 on_dark, on_light;

  glm::vec3 in(render::Theme theme) const { return theme == render::Theme::light ? on_light : on_dark; }
  glm::vec4 in(render::Theme theme, float opacity) const { return {in(theme), opacity}; }
};

inline SrgbColour as_values(glm::vec3 colour) {
  return {colour.r, colour.g, colour.b};
}

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
