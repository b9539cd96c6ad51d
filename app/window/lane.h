#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/overlays/overlays.h"
#include "app/ui_state/status.h"
#include "app/window/colouring.h"
#include "app/window/monitor.h"
#include "app/window/position_bridge.h"
#include "app/window/rescue.h"
#include "app/window/step_statistics.h"
#include "compute/core/bodies.h"
#include "compute/sim/simulation.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/passes/body_renderer.h"
#include "render/passes/compose.h"

namespace orrery {
/// Region that the picture must show.
struct Ball {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< > 0
};

/// The camera's target and the ranges of the colours for a scene.
struct Framing {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< holds 95 % of the bodies, or all of up to 64, with a margin; > 0
  Ball all;             ///< holds every body with a finite position, with a margin
  render::ValueRanges ranges;
  std::optional<float> only_mass{};  ///< common mass of all bodies; none: masses differ
};

/// Returns the framing of these bodies. All members but `all` depend on percentiles, so that a few distant or very fast
/// bodies change little.
Framing framing_of(const Bodies& bodies);

/// Draws the bodies and the overlays onto a canvas, and keeps the picture. Frames during a long CPU step show the kept
/// picture, so that a software renderer leaves the processors to the kernel.
class ScenePicture {
 public:
  /// Draws the picture. `moved`: bodies, ranges or overlays changed since the last call.
  void draw(const render::DrawnBodies& bodies, bool moved, const render::OrbitCamera& camera,
            const render::Appearance& appearance, const render::ValueRanges& ranges, const render::Canvas& canvas,
            const OverlayPainter& overlays);
  /// Returns how the bodies were drawn last: as sprites or as splats.
  render::Drawing drawn() const noexcept { return renderer_.drawn(); }

 private:
  struct Look {  // all inputs of a picture besides the bodies
    glm::mat4 view, projection;
    float framed_radius;
    render::Appearance appearance;
    int width, height;
    friend bool operator==(const Look&, const Look&) = default;
  };

  render::BodyRenderer renderer_;
  render::Copy copy_;
  render::RenderTarget kept_;
  std::optional<Look> kept_look_;
};

/// A part of the window that shows one picture. Places are shares from an upper left corner; lengths are in pixels.
struct StagePart {
  render::Canvas canvas;   ///< region of this part in the window
  float share = 1;         ///< argument of OrbitCamera::fit_into()
  glm::vec2 middle{0.0f};  ///< argument of OrbitCamera::fit_into()
  int window_width = 0;    ///< width of the window; 0: not known yet, and places are relative to the window

  /// Convert a place in this part to one in the window, and back.
  glm::vec2 to_window(glm::vec2 place) const;
  glm::vec2 from_window(glm::vec2 place) const;
  /// Returns the camera that shows in this part what `camera` shows.
  render::OrbitCamera fitted(const render::OrbitCamera& camera) const;
};

/// Returns the whole window as one part. `covered` has the shares that panels cover: of the width at the left, of the
/// height at the bottom, and of the width at the right.
StagePart whole_stage(const render::Canvas& window, glm::vec3 covered);

/// One system on the screen: its simulation, the buffer of its bodies, its picture and its measurements. Several lanes
/// may be drawn in one frame, one after the other. Every call requires a current GL context.
class Lane {
 public:
  /// `sharing` belongs to the device of `backends`. The simulation starts with `kernel` (null: the default kernel);
  /// `chooser` as for Simulation. If `lockstep`, results do not depend on how long work takes. If `lockstep` or without
  /// a chooser, apply() returns after the command is complete. `rescue`, `backends` and `chooser` must outlive the
  /// lane. Throws what Simulation throws.
  Lane(Rescue& rescue, const Backends& backends, const Sharing& sharing, const SceneRequest& scene, KernelPtr kernel,
       KernelChooser* chooser, bool lockstep);

  Simulation& simulation() { return simulation_; }
  /// Returns Simulation::status().
  const Status& status() const { return simulation_.status(); }
  FrameLog& log() { return log_; }
  const FrameLog& log() const { return log_; }

  /// Carries out a user's command and the measurements for it. Throws what Simulation::apply() throws.
  void apply(const Command& command, const Diagnostics& wanted);

  /// Returns whether advance() may start steps. If bodies are copied for drawing, the last steps must have ended first.
  bool ready() const;
  /// Requests the measurements that are due with the next batch. `now_s` is a time in seconds that never decreases.
  /// Throws what Simulation::apply() throws.
  void examine(double now_s, const ViewStatus& view);
  /// Starts the steps of frame `frame` and returns how many. Never throws, see Simulation::advance_frame().
  int advance(std::int64_t frame);
  /// Starts exactly `steps` steps in frame `frame`, even if paused. Call only when idle. Throws what
  /// Simulation::start() throws.
  void start(int steps, std::int64_t frame);
  /// Collects the batches that have ended. Returns whether no steps are in flight.
  bool collect();
  /// Logs the collected measurements, and copies new bodies for drawing. Returns whether framing() is new, for a scene
  /// whose bodies were not drawn before.
  bool take_timings();
  /// Replaces the bodies and sets the simulated time; the step number restarts at 0. Throws as
  /// Simulation::set_bodies().
  void take_bodies(const Bodies& bodies, double time);
  /// Passes the distances to BodyValues::give_distances().
  void give_distances(std::shared_ptr<const std::vector<float>> distances) {
    values_.give_distances(std::move(distances));
  }
  /// Fills in the window's data about this lane. Call once per frame. `wall_s` is the real time in seconds.
  void describe(ViewStatus& view, double wall_s);

  /// Prepares the overlays and fills in their data in `view`. Call before draw().
  void prepare_overlays(const render::OrbitCamera& camera, const render::Canvas& canvas, ViewStatus& view);
  /// Draws this lane. `frame` is the tag of the drawing's GPU time.
  void draw(std::int64_t frame, const render::OrbitCamera& camera, const render::Appearance& appearance,
            const render::Canvas& canvas);
  /// Draws other bodies with other ranges of the colours; `moved` as for ScenePicture::draw().
  void draw(std::int64_t frame, const render::OrbitCamera& camera, const render::Appearance& appearance,
            const render::Canvas& canvas, const render::DrawnBodies& bodies, const render::ValueRanges& ranges,
            bool moved);
  /// Returns whether the drawn bodies changed since the last call or the last draw() of this lane, and resets that.
  bool take_moved() { return std::exchange(moved_, false); }
  render::DrawnBodies drawn() const {
    render::DrawnBodies drawn = bridge_.drawn();
    drawn.values = values_.buffer();
    return drawn;
  }
  /// Returns the simulated time of the drawn bodies.
  double drawn_time() const;
  /// Returns whether the drawn bodies changed since the last draw() or take_moved().
  bool moved() const { return moved_; }
  /// Returns a number that changes when bodies are replaced rather than moved.
  std::int64_t history() const { return history_; }
  /// Returns the framing of the scene's initial bodies.
  const Framing& framing() const { return framing_; }
  /// Returns the framing of the currently drawn bodies; restarts the automatic ranges of colours. Waits for the GPU.
  Framing renew_framing();
  /// Updates the values that the colours show and their automatic ranges. Call once per frame. `now_s` is a time in
  /// seconds that never decreases.
  void follow_colours(const render::Appearance& appearance, const render::OrbitCamera& camera, double now_s);
  /// Returns the automatic ranges of the colours.
  const render::ValueRanges& ranges() const { return colouring_.ranges(); }
  /// Fills in the legend's data about the bodies' values.
  void describe(Legend& legend, const render::Appearance& appearance) const;

 private:
  /// Describes values without a range: names their only value, or why they are not known.
  void describe_without_range(Legend& legend, const render::Appearance& appearance) const;
  struct TakenProbe {
    Trial trial;
    std::int64_t step;
    friend bool operator==(const TakenProbe&, const TakenProbe&) = default;
  };

  double copy_drawn();
  void take_probe(const Status& status, const ForceProbe& probe);

  Rescue& rescue_;
  // The order matters: each member uses those above, so it is destroyed before them.
  PositionBridge bridge_;
  ScenePicture picture_;
  OverlayPainter overlays_;
  Colouring colouring_;
  BodyValues values_;
  render::GpuTimer draw_timer_;
  Simulation simulation_;
  Framing framing_;
  FrameLog log_;
  Monitor monitor_;
  AccuracyWatch accuracy_watch_;
  const bool lockstep_;

  std::vector<StepTiming> timings_;        // collected, but not logged yet
  std::optional<TakenProbe> taken_probe_;  // the latest comparison of forces in the results
  bool drawn_is_old_ = true;               // the bodies have changed since they were copied
  bool moved_ = true;                      // the drawn bodies changed since the last picture
  bool scene_is_new_ = true;               // framing_ does not belong to the scene yet
  double copied_time_ = 0;                 // simulated time of the bodies that were copied last
  std::int64_t history_ = 0;
};

}  // namespace orrery
