#pragma once

#include <optional>

#include "render/camera.h"

namespace orrery {

/// Lets the picture glide to another view instead of jumping there.
class CameraGlide {
 public:
  static constexpr double duration_s = 0.35;

  /// Before the camera jumps: it is shown from its present view on. `now_s` only grows, here and below.
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

}  // namespace orrery
