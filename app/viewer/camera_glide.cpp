#include "app/viewer/camera_glide.h"

namespace orrery {

void CameraGlide::start(const render::OrbitCamera& camera, double now_s) {
  glide_ = Glide{shown(camera, now_s), now_s};
}

render::OrbitCamera CameraGlide::shown(const render::OrbitCamera& goal, double now_s) {
  if (!glide_) return goal;
  const auto t = static_cast<float>((now_s - glide_->begin_s) / duration_s);
  if (!(t < 1)) {
    glide_.reset();
    return goal;
  }
  return goal.on_the_way_from(glide_->from, t * t * (3 - 2 * t));  // begins and ends at rest
}

}  // namespace orrery
