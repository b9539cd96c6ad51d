#pragma once

#include <cstdint>
#include <optional>

#include "app/ui_state/status.h"
#include "compute/scenes/scene.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"
#include "render/passes/body_readback.h"
#include "render/passes/body_renderer.h"

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

}  // namespace orrery
