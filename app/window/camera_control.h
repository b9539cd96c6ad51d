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

/// The body that the user picked: finds it, and reads it back while the system moves. Needs the GL context current.
class BodyPicker {
 public:
  /// In `lockstep`, what is shown belongs to the drawn bodies. Otherwise it is some frames old, and nothing waits.
  explicit BodyPicker(bool lockstep) : lockstep_{lockstep} {}

  /// The picture's bodies and how they are drawn.
  struct Scene {
    render::DrawnBodies bodies;
    double time;           ///< simulated, of the bodies
    std::int64_t history;  ///< another number: the bodies were replaced, not moved
    const render::Appearance& appearance;
    const render::ValueRanges& ranges;
    render::Canvas canvas;
    const Parts& parts;
  };

  /// The next update() picks the body at `place`, in shares of the window from its upper left corner. If there is none,
  /// it does the same as unpick().
  void pick_at(glm::vec2 place);
  void pick(int number);
  void unpick();
  /// Call when another scene is shown. Does the same as unpick(), unless the body was asked for since the last
  /// update().
  void leave_scene();
  /// Whether a body is picked or asked for.
  bool active() const { return number_ || wanted_; }
  /// The picked body; none if there is none.
  std::optional<int> number() const { return number_; }
  /// Position of the picked body; none if nothing is picked, or if the body was not read yet.
  std::optional<glm::vec3> position() const;

  /// Call once per frame before drawing, with the camera of this frame. Returns false if pick_at() found no body.
  bool update(const Scene& scene, const render::OrbitCamera& camera);
  /// Returns what the panels show of the picked body; none if nothing is picked, or if the body was not read yet.
  std::optional<PickedBody> describe(const Scene& scene, const render::OrbitCamera& camera) const;

 private:
  bool find(const Scene& scene, const render::OrbitCamera& camera);
  void read_now(const Scene& scene);
  void take(const render::BodySample& sample);

  const bool lockstep_;
  std::optional<render::Pick> pick_;  // made when first needed, like readback_
  std::optional<render::BodyReadback> readback_;
  std::optional<glm::vec2> wanted_;  // see pick_at()
  std::optional<int> number_;
  bool updated_ = false;                    // since the body was asked for
  std::optional<render::BodyState> state_;  // of that body
  double state_time_ = 0;
  std::int64_t history_ = 0;
  std::optional<glm::vec3> acceleration_;  // see PickedBody
};

/// How a scene is shown first: direction (radians, as for OrbitCamera::look_from()), radius, appearance and pace.
struct SceneView {
  float azimuth = -1.1f, elevation = 0.6f;
  float least_radius = 0;  ///< that the picture holds, even if the bodies are closer together at the start
  render::Appearance appearance{};
  int steps_per_frame = 1;
  friend bool operator==(const SceneView&, const SceneView&) = default;
};

/// Returns the view of a generator's scene; a file has the initial one.
SceneView scene_view(const SceneRequest& scene);

/// Direction in which the held keys fly: -1, 0 or 1 along each axis.
struct HeldKeys {
  int right = 0, up = 0, forward = 0;
};

/// Returns the held keys of the current ImGui context.
HeldKeys held_keys();

/// Camera motions that the mouse and keys ask for.
class CameraControl {
 public:
  /// Motions that this frame's input asks for, unless it belongs to a panel: a left or middle drag orbits, a right drag
  /// pans, and so does Shift with any; the wheel zooms to the pointer; a click picks a body; a double click frames all
  /// bodies; arrow keys that are down fly. `picked` is the body that is picked now: that of before a double click stays
  /// so.
  Requests requests(const ImGuiIO& io, const HeldKeys& held, std::optional<int> picked);

 private:
  void follow_clicks(const ImGuiIO& io, std::optional<int> picked, Requests& requests);

  std::optional<Request> before_click_;  // picks what was picked before the latest click; none: that picked nothing
};

/// Describes the mouse in words, for the list of keys.
std::vector<KeyHelp> mouse_help();

/// Lets the picture glide to another view instead of jumping there.
class CameraGlide {
 public:
  static constexpr double duration_s = 0.35;

  /// Call before the camera jumps: the picture glides from the current view. `now_s` only grows, here and below.
  void start(const render::OrbitCamera& camera, double now_s);
  /// The camera to draw with, on its way to `goal`, which may move.
  render::OrbitCamera shown(const render::OrbitCamera& goal, double now_s);

 private:
  struct Glide {
    render::OrbitCamera from;
    double begin_s;
  };
  std::optional<Glide> glide_;
};

/// Moves the camera's target with what the user follows. Needs the GL context current.
class CameraFollow {
 public:
  /// In `lockstep`, the target is that of the drawn bodies. Otherwise it is extrapolated from some frames before, and
  /// nothing waits.
  explicit CameraFollow(bool lockstep) : lockstep_{lockstep} {}

  struct Scene {
    render::DrawnBodies bodies;
    double time;           ///< simulated, of the bodies
    std::int64_t history;  ///< another number: the bodies were replaced, not moved
    bool moved;            ///< since the last frame
    const Parts& parts;
  };

  /// Starts to follow `what` with the next update(). Throws UsageError that lists the valid names if the part is not
  /// one of `parts`.
  void start(const Follow& what, const Parts& parts);
  void stop();
  const Follow& what() const { return what_; }
  bool active() const { return what_.what != Followed::nothing; }
  /// Call when another scene is drawn, with these parts, and the camera has moved to it. Returns why following ends,
  /// for the user; empty if it continues, or if the followed body is gone.
  std::string take_scene(const Parts& parts);

  /// Finds the target. Call once per frame before aim(). Returns whether it differs from that of the previous frame:
  /// then the picture should glide.
  bool update(const Scene& scene, const BodyPicker& picker);
  /// Moves the camera. Moves that the user made since the last call stay as an offset from the target.
  void aim(render::OrbitCamera& camera);

 private:
  struct Known {
    glm::vec3 centre;
    double time;            // simulated
    glm::vec3 step{0.0f};   // of the centre, in `duration`
    double duration = 0.0;  // from the centre before to this one; 0: there was none
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
  std::optional<render::CentreFinder> finder_;  // made when first needed
  render::Buffer parts_;                        // a byte for each body; empty: not uploaded yet
  std::optional<Known> latest_;
  bool is_old_ = true;  // the bodies have moved since the last request
  std::int64_t history_ = 0;
  std::optional<int> number_;        // of the followed body
  std::optional<glm::vec3> target_;  // of the next aim()
  std::optional<glm::vec3> from_;    // where the target was at the last aim()
};

CameraView view_of(const render::OrbitCamera& camera);
void place(render::OrbitCamera& camera, const CameraView& view);

/// Makes a camera path of views, key frame by key frame, and moves a camera along a path.
class PathPlayer {
 public:
  /// Adds the camera's view as a key frame, `after_s` after the last one; the first one is at 0 s.
  const KeyFrame& add(const render::OrbitCamera& camera, double after_s);
  void clear();
  const std::vector<KeyFrame>& made() const { return made_; }
  /// Whether key frames were added since the path was saved.
  bool unsaved() const { return unsaved_; }
  void mark_saved() { unsaved_ = false; }

  /// Both clocks are the caller's: any time in seconds that only grows.
  void play(CameraPath path, double now_s);
  void stop() { playing_.reset(); }
  /// Moves the camera to its place on the path. Stops after the end.
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

/// The camera of the window: what the user asks of it, of its paths and of the picked body.
class CameraFeature {
 public:
  /// `session` must outlive this.
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
  /// The camera to draw with, which may be on its way to camera().
  render::OrbitCamera shown();
  PathPlayer& paths() { return paths_; }
  const PathPlayer& paths() const { return paths_; }
  const BodyPicker& picker() const { return picker_; }
  const CameraFollow& follow() const { return follow_; }

  /// Moves the camera along the path that is played.
  void follow_path();
  /// Frames the bodies of a scene that was not drawn before.
  void take_scene();
  /// Finds the picked body, and moves the camera with what it follows.
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
  bool picking_in_second_ = false;                         // the place to pick at is in the part of the second run
  std::optional<std::pair<glm::vec3, float>> framed_all_;  // target and distance of the view that shows all bodies
};

}  // namespace orrery
