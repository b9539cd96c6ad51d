#pragma once

#include <glm/glm.hpp>
#include <vector>

#include "app/ui_state/legend.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/passes/line_renderer.h"

namespace orrery {

struct Axes {
  std::vector<render::DrawnLine> lines;
  std::vector<PictureLabel> labels;  ///< names, and the lengths at tick marks
  double tick = 0;                   ///< length between two tick marks
};

/// The axes from `centre`, for a scene of this `radius` > 0 in a picture of `width` x `height` pixels. Tick marks are
/// at round lengths that suit the zoom.
Axes axes_of(glm::vec3 centre, float radius, const render::OrbitCamera& camera, int width, int height,
             render::Theme theme);

}  // namespace orrery
