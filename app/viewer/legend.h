#pragma once

#include "app/ui_state/legend.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/drawn_bodies.h"

namespace orrery {

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera);

}  // namespace orrery
