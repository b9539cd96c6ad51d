#pragma once

#include "compute/scenes/scene.h"
#include "render/appearance.h"

namespace orrery {

/// How a scene is shown at first: where from, angles in radians as OrbitCamera::look_from(), how much of it, drawn how,
/// and how fast.
struct SceneView {
  float azimuth = -1.1f, elevation = 0.6f;
  float least_radius = 0;  ///< that the picture holds, even if the bodies are closer together at the start
  render::Appearance appearance{};
  int steps_per_frame = 1;
  friend bool operator==(const SceneView&, const SceneView&) = default;
};

/// That of a generator's scene; a file has the initial one.
SceneView scene_view(const SceneRequest& scene);

}  // namespace orrery
