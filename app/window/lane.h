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
/// Region that the picture is to hold.
struct Ball {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< > 0
};

/// The camera's target and the ranges of the colours that suit a scene.
struct Framing {
  glm::vec3 centre{0.0f};
  float radius = 1.0f;  ///< holds 95 % of the bodies, all of up to 64, with a margin; > 0
  Ball all;             ///< holds every body whose place is finite, with a margin
  render::ValueRanges ranges;
  std::optional<float> only_mass{};  ///< of all bodies; none: they have several
};

/// Returns the framing of these bodies. All but `all` comes from percentiles, so that a few distant or very fast bodies
/// change little.
Framing framing_of(const Bodies& bodies);

/// Draws the bodies and the overlays onto a canvas, and keeps the picture. During a long step of a CPU kernel,
/// frames reuse it, so that a software renderer leaves the processors to the kernel.
class ScenePicture {
 public:
  /// `moved`: bodies, ranges or overlays are not those of the last call.
  void draw(const render::DrawnBodies& bodies, bool moved, const render::OrbitCamera& camera,
            const render::Appearance& appearance, const render::ValueRanges& ranges, const render::Canvas& canvas,
            const OverlayPainter& overlays);
  /// Way in which the bodies were drawn last: by sprites or by splats.
  render::Drawing drawn() const noexcept { return renderer_.drawn(); }

 private:
  struct Look {  // the other inputs of a picture
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

/// A part of the window that shows one picture. Places are in shares from an upper left corner, lengths in pixels.
struct StagePart {
  render::Canvas canvas;   ///< this part of the window
  float share = 1;         ///< see OrbitCamera::fit_into()
  glm::vec2 middle{0.0f};  ///< likewise
  int window_width = 0;    ///< 0: the part is not known yet, and places are those of the window

  /// A place in this part as one in the window, and back.
  glm::vec2 to_window(glm::vec2 place) const;
  glm::vec2 from_window(glm::vec2 place) const;
  /// The camera that shows here what `camera` shows.
  render::OrbitCamera fitted(const render::OrbitCamera& camera) const;
};

/// Returns the whole window as one part. `covered`: the shares of its width at the left, of its height at the bottom,
/// and of its width at the right that panels cover.
StagePart whole_stage(const render::Canvas& window, glm::vec3 covered);

/// One system on the screen: the simulation, the buffer of its bodies, their picture, and what is measured of it.
/// Several lanes may be drawn in one frame, one after the other. Needs the GL context current in every call.
class Lane {
 public:
  /// `sharing` is that of the device of `backends`. `kernel` (null: the default one) is the one to start with;
  /// `chooser` as for Simulation. In `lockstep` nothing depends on how long things take. There, and without a chooser,
  /// a command has been carried out when apply() returns. `rescue`, `backends` and `chooser` must outlive the lane.
  /// Throws as Simulation does.
  Lane(Rescue& rescue, const Backends& backends, const Sharing& sharing, const SceneRequest& scene, KernelPtr kernel,
       KernelChooser* chooser, bool lockstep);

  Simulation& simulation() { return simulation_; }
  /// See Simulation::status().
  const Status& status() const { return simulation_.status(); }
  FrameLog& log() { return log_; }
  const FrameLog& log() const { return log_; }

  /// Carries out a user's command, with the measurements that belong to it. Throws as Simulation::apply().
  void apply(const Command& command, const Diagnostics& wanted);

  /// Whether advance() may start steps: where bodies are copied, not before the last ones have been drawn.
  bool ready() const;
  /// Asks for the measurements that are due with the next batch. `now_s` only grows. Throws as Simulation::apply().
  void examine(double now_s, const ViewStatus& view);
  /// Starts the steps of frame `frame` and returns how many. Never throws, see Simulation::advance_frame().
  int advance(std::int64_t frame);
  /// Starts exactly `steps` steps in frame `frame`, paused or not. Call only when idle. Throws as Simulation::start().
  void start(int steps, std::int64_t frame);
  /// Takes in the batches that have ended. Returns whether no steps are in flight.
  bool collect();
  /// Logs what was measured, and copies the bodies to be drawn if they are new. Returns whether framing() is that of a
  /// scene whose bodies were not drawn before.
  bool take_timings();
  /// Gives the lane other bodies, at this simulated time; its step restarts at 0. Throws as Simulation::set_bodies().
  void take_bodies(const Bodies& bodies, double time);
  /// See BodyValues::give_distances().
  void give_distances(std::shared_ptr<const std::vector<float>> distances) {
    values_.give_distances(std::move(distances));
  }
  /// Fills in what the window shows of this lane; once per frame. `wall_s` is the time that really passes.
  void describe(ViewStatus& view, double wall_s);

  /// Prepares what is drawn over the bodies, and fills in what `view` shows of it; before draw().
  void prepare_overlays(const render::OrbitCamera& camera, const render::Canvas& canvas, ViewStatus& view);
  /// `frame` is the tag of the drawing's GPU time.
  void draw(std::int64_t frame, const render::OrbitCamera& camera, const render::Appearance& appearance,
            const render::Canvas& canvas);
  /// The same with other bodies and ranges of the colours than its own; `moved` as for ScenePicture::draw().
  void draw(std::int64_t frame, const render::OrbitCamera& camera, const render::Appearance& appearance,
            const render::Canvas& canvas, const render::DrawnBodies& bodies, const render::ValueRanges& ranges,
            bool moved);
  /// Whether the drawn bodies are not those of the last call, or of the last draw().
  bool take_moved() { return std::exchange(moved_, false); }
  render::DrawnBodies drawn() const {
    render::DrawnBodies drawn = bridge_.drawn();
    drawn.values = values_.buffer();
    return drawn;
  }
  /// The simulated time of the drawn bodies.
  double drawn_time() const;
  /// Whether the drawn bodies are not those of the last draw().
  bool moved() const { return moved_; }
  /// Changes when bodies were replaced, not moved.
  std::int64_t history() const { return history_; }
  /// Framing of the scene's first bodies.
  const Framing& framing() const { return framing_; }
  /// Framing of the drawn bodies as they are now. Renews the automatic ranges of the colours; waits for the GPU.
  Framing renew_framing();
  /// Brings the values that the colours show up to date, and lets the automatic ranges follow them; once per frame.
  /// `now_s` only grows.
  void follow_colours(const render::Appearance& appearance, const render::OrbitCamera& camera, double now_s);
  /// The automatic ranges of the colours.
  const render::ValueRanges& ranges() const { return colouring_.ranges(); }
  /// Fills in what is known of the bodies' values.
  void describe(Legend& legend, const render::Appearance& appearance) const;

 private:
  /// If the values have no range: names what they are instead.
  void describe_without_range(Legend& legend, const render::Appearance& appearance) const;
  struct TakenProbe {
    Trial trial;
    std::int64_t step;
    friend bool operator==(const TakenProbe&, const TakenProbe&) = default;
  };

  double copy_drawn();
  void take_probe(const Status& status, const ForceProbe& probe);

  Rescue& rescue_;
  // In this order: each uses those above, so it is destroyed before them.
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

  std::vector<StepTiming> timings_;        // collected, not taken yet
  std::optional<TakenProbe> taken_probe_;  // the comparison of forces that the results have
  bool drawn_is_old_ = true;               // the simulation has moved on since its bodies were copied
  bool moved_ = true;                      // the drawn bodies are not those of the last picture
  bool scene_is_new_ = true;               // framing_ is not that of the scene yet
  double copied_time_ = 0;                 // simulated, of the bodies that were copied last
  std::int64_t history_ = 0;
};

}  // namespace orrery
