#pragma once

#include <optional>
#include <vector>

#include "app/overlays/body_tracks.h"
#include "app/ui_state/overlay_commands.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/passes/line_renderer.h"

namespace orrery {

struct Arrows {
  std::vector<render::DrawnLine> lines;
  float value_per_length = 0;  ///< what an arrow of unit length in the world stands for; 0: there are no arrows
};

/// Arrows at the bodies' places at `now`, a tenth of the picture's height long at most. None where an acceleration is
/// not known yet. Where many would cover the bodies, only some are drawn, but always that of the picked one.
Arrows arrows_of(const BodyTracks& tracks, double now, Vectors quantity, std::optional<int> picked,
                 const render::OrbitCamera& camera, render::Theme theme);

/// sRGB. `quantity` is not `none`.
glm::vec3 arrow_colour(Vectors quantity, render::Theme theme);

}  // namespace orrery
