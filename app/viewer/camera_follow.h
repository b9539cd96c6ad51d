#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <optional>
#include <string>

#include "app/ui_state/camera_commands.h"
#include "app/viewer/body_picker.h"
#include "compute/scenes/parts.h"
#include "render/camera.h"
#include "render/drawn_bodies.h"
#include "render/gl/gl_objects.h"
#include "render/passes/centre_finder.h"

namespace orrery {

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

  /// From the next update() on. Throws UsageError that lists the valid names if the part is not one of these.
  void start(const Follow& what, const Parts& parts);
  void stop();
  const Follow& what() const { return what_; }
  bool active() const { return what_.what != Followed::nothing; }
  /// Another scene is drawn, with these parts, and the camera has moved to it. Returns why following ends, for the
  /// user; empty if it goes on, or if the body is gone that was followed.
  std::string take_scene(const Parts& parts);

  /// Finds the target; once per frame before aim(). Returns whether it is another one than in the frame before: then
  /// the picture should glide.
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

}  // namespace orrery
