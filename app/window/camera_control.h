#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/camera_commands.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "app/window/session.h"
#include "compute/core/bodies.h"
#include "compute/scenes/scene.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/passes/body_readback.h"
#include "render/passes/body_renderer.h"
#include "render/passes/centre_finder.h"

struct ImGuiIO;

namespace orrery {

/// Finds the body that the user picks, and reads it back while the system moves. Requires a current GL context.
class BodyPicker {
 public:
  /// If `lockstep`, the body's state is of the drawn bodies. Otherwise it is some frames old, and no function waits.
  explicit BodyPicker(bool lockstep) : lockstep_{lockstep} {}

  /// The drawn bodies and how they are drawn.
  struct Scene {
    render::DrawnBodies bodies;
    double time;           ///< simulated time of the bodies
    std::int64_t history;  ///< changes when the bodies are replaced rather than moved
    const render::Appearance& appearance;
    const render::ValueRanges& ranges;
    render::Canvas canvas;
    const Parts& parts;
  };

  /// Requests the body at `place`, in shares of the window from its upper left corner; the next update() picks it. If
  /// there is no body, that update() does what unpick() does.
  void pick_at(glm::vec2 place);
  void pick(int number);
  void unpick();
  /// Unpicks the body when another scene is shown, unless it was requested since the last update().
  void leave_scene();
  /// Returns whether a body is picked or requested.
  bool active() const { return number_ || wanted_; }
  /// Returns the number of the picked body; none if there is none.
  std::optional<int> number() const { return number_; }
  /// Returns the picked body's position; none if no body is picked or it was not read yet.
  std::optional<glm::vec3> position() const;

  /// Updates the picked body. Call once per frame before drawing, with this frame's camera. Returns false if pick_at()
  /// found no body.
  bool update(const Scene& scene, const render::OrbitCamera& camera);
  /// Returns the panels' data on the picked body; none if no body is picked or it was not read yet.
  std::optional<PickedBody> describe(const Scene& scene, const render::OrbitCamera& camera) const;

 private:
  bool find(const Scene& scene, const render::OrbitCamera& camera);
  void read_now(const Scene& scene);
  void take(const render::BodySample& sample);

  const bool lockstep_;
  std::optional<render::Pick> pick_;  // created when first needed, like readback_
  std::optional<render::BodyReadback> readback_;
  std::optional<glm::vec2> wanted_;  // place of the last pick_at(), until update()
  std::optional<int> number_;
  bool updated_ = false;                    // update() has run since the body was requested
  std::optional<render::BodyState> state_;  // state of the picked body
  double state_time_ = 0;
  std::int64_t history_ = 0;
  std::optional<glm::vec3> acceleration_;  // see PickedBody
};

/// Initial view of a scene: direction (radians, as in OrbitCamera::look_from()), radius, appearance and pace.
struct SceneView {
  float azimuth = -1.1f, elevation = 0.6f;
  float least_radius = 0;  ///< radius that the picture shows at least, even if the bodies start closer together
  render::Appearance appearance{};
  int steps_per_frame = 1;
  friend bool operator==(const SceneView&, const SceneView&) = default;
};

/// Returns the initial view of a generator's scene, or the default view for a file.
SceneView scene_view(const SceneRequest& scene);

/// Flight direction of the held keys: -1, 0 or 1 along each axis.
struct HeldKeys {
  int right = 0, up = 0, forward = 0;
};

/// Returns the held keys of the current ImGui context.
HeldKeys held_keys();

/// Converts mouse and key input into camera motions.
class CameraControl {
 public:
  /// Returns the requests of this frame's input, unless it belongs to a panel. A left or middle drag orbits; a right
  /// drag, or any drag with Shift, pans. The wheel zooms to the pointer. A click picks a body; a double click frames
  /// all bodies and keeps the body that was picked before. Held arrow keys fly. `picked` is the currently picked body.
  Requests requests(const ImGuiIO& io, const HeldKeys& held, std::optional<int> picked);

 private:
  void follow_clicks(const ImGuiIO& io, std::optional<int> picked, Requests& requests);

  std::optional<Request> before_click_;  // undoes the latest click; none: it picked nothing
};

/// Returns descriptions of the mouse actions for the list of keys.
std::vector<KeyHelp> mouse_help();

/// Makes the picture glide to another view instead of jumping there.
class CameraGlide {
 public:
  static constexpr double duration_s = 0.35;

  /// Starts a glide from the current view. Call before the camera jumps. `now_s` is a time in s that never decreases.
  void start(const render::OrbitCamera& camera, double now_s);
  /// Returns the camera to draw with, on its way to `goal`, which may move.
  render::OrbitCamera shown(const render::OrbitCamera& goal, double now_s);

 private:
  struct Glide {
    render::OrbitCamera from;
    double begin_s;
  };
  std::optional<Glide> glide_;
};

/// Moves the camera's target with the followed body or centre. Requires a current GL context.
class CameraFollow {
 public:
  /// If `lockstep`, the target belongs to the drawn bodies. Otherwise it is extrapolated from earlier frames, and no
  /// function waits.
  explicit CameraFollow(bool lockstep) : lockstep_{lockstep} {}

  struct Scene {
    render::DrawnBodies bodies;
    double time;           ///< simulated time of the bodies
    std::int64_t history;  ///< changes when the bodies are replaced rather than moved
    bool moved;            ///< the bodies have moved since the last frame
    const Parts& parts;
  };

  /// Follows `what` from the next update() on. Throws UsageError, which lists the valid names, for an unknown part.
  void start(const Follow& what, const Parts& parts);
  void stop();
  const Follow& what() const { return what_; }
  bool active() const { return what_.what != Followed::nothing; }
  /// Adapts to another scene, with these parts. Call when it is drawn and the camera has moved to it. Returns why
  /// following ends, for the user; empty if it continues, or if it ends because a body was followed.
  std::string take_scene(const Parts& parts);

  /// Finds the target. Call once per frame before aim(). Returns whether another target is followed than in the
  /// previous frame, so that the picture should glide.
  bool update(const Scene& scene, const BodyPicker& picker);
  /// Moves the camera with the target. Keeps the user's moves since the last call as an offset from the target.
  void aim(render::OrbitCamera& camera);

 private:
  struct Known {
    glm::vec3 centre;
    double time;            // simulated time of the centre
    glm::vec3 step{0.0f};   // movement of the centre during `duration`
    double duration = 0.0;  // time since the previous centre; 0: there was none
  };

  bool update_body(const BodyPicker& picker);
  bool update_centre(const Scene& scene);
  void forget_centre();
  void request(const Scene& scene);
  void request_part(const Scene& scene);
  bool take(const render::FoundCentre& found);
  void move_on(glm::vec3 centre, double time);
  glm::vec3 centre_at(double time) const;

  const bool lockstep_;
  Follow what_{.what = Followed::nothing};
  std::optional<render::CentreFinder> finder_;  // created when first needed
  render::Buffer parts_;                        // one byte per body; empty: not uploaded yet
  std::optional<Known> latest_;
  bool is_old_ = true;  // the bodies have moved since the last request
  std::int64_t history_ = 0;
  std::optional<int> number_;        // number of the followed body
  std::optional<glm::vec3> target_;  // target of the next aim()
  std::optional<glm::vec3> from_;    // target of the last aim()
};

CameraView view_of(const render::OrbitCamera& camera);
void place(render::OrbitCamera& camera, const CameraView& view);

/// Records a camera path, key frame by key frame, and moves a camera along a path.
class PathPlayer {
 public:
  /// Adds the camera's view as a key frame, `after_s` seconds after the last one; the first one is at 0 s.
  const KeyFrame& add(const render::OrbitCamera& camera, double after_s);
  void clear();
  const std::vector<KeyFrame>& made() const { return made_; }
  /// Returns whether key frames were added since the path was saved.
  bool unsaved() const { return unsaved_; }
  void mark_saved() { unsaved_ = false; }

  /// Starts a path. `now_s`, here and in follow(), is a time in seconds that never decreases.
  void play(CameraPath path, double now_s);
  void stop() { playing_.reset(); }
  /// Moves the camera to its place on the path; stops after the end of the path.
  void follow(double now_s, render::OrbitCamera& camera);

 private:
  struct Playing {
    CameraPath path;
    double begin_s;
  };

  std::vector<KeyFrame> made_;
  bool unsaved_ = false;
  std::optional<Playing> playing_;
};

/// The window's camera: carries out camera commands, plays paths and follows bodies.
class CameraFeature {
 public:
  /// `session` must outlive this object.
  explicit CameraFeature(Session& session) : session_{session}, picker_{session.lockstep}, follow_{session.lockstep} {}

  void carry_out(const OrbitView& c);
  void carry_out(const PanView& c);
  void carry_out(const FlyView& c);
  void carry_out(const ZoomView& c);
  void carry_out(const LookFrom& c);
  void carry_out(const PickAt& c);
  void carry_out(const PickBody& c);
  void carry_out(const Unpick&);
  void carry_out(const Follow& c);
  void carry_out(const FrameAll& c);
  void carry_out(const ResetCamera&);
  void carry_out(const AddKeyFrame& c);
  void carry_out(const ClearPath&);
  void carry_out(const SavePath& c);
  void carry_out(const PlayPath& c);

  CameraControl& control() { return control_; }
  render::OrbitCamera& camera() { return camera_; }
  const render::OrbitCamera& camera() const { return camera_; }
  /// Returns the camera to draw with, which may be gliding to camera().
  render::OrbitCamera shown();
  PathPlayer& paths() { return paths_; }
  const PathPlayer& paths() const { return paths_; }
  const BodyPicker& picker() const { return picker_; }
  const CameraFollow& follow() const { return follow_; }

  /// Moves the camera along the path that is playing.
  void follow_path();
  /// Frames the bodies of a newly drawn scene.
  void take_scene();
  /// Finds the picked body, and moves the camera with the followed target.
  void follow_bodies();

 private:
  void glide();
  BodyPicker::Scene picker_scene(Lane& lane, const StagePart& part) const;

  Session& session_;
  render::OrbitCamera camera_;
  CameraControl control_;
  CameraGlide glide_;
  PathPlayer paths_;
  BodyPicker picker_;
  CameraFollow follow_;
  bool picking_in_second_ = false;                         // the requested place is in the part of the second run
  std::optional<std::pair<glm::vec3, float>> framed_all_;  // target and distance of the camera when it shows all bodies
};

}  // namespace orrery
