#pragma once

#include "compute/scenes/scene.h"
#include "render/appearance.h"

namespace orrery {

/// How a scene is shown at first: where from, angles in radians as OrbitCamera::look_from(), and drawn how.
struct SceneView {
  float azimuth = -1.1f, elevation = 0.6f;
  render::Appearance appearance{};
};

/// That of a generator's scene; a file has the initial one.
SceneView scene_view(const SceneRequest& scene);

}  // namespace orrery
