#pragma once

#include "app/ui_state/legend.h"
#include "compute/scenes/parts.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/drawn_bodies.h"

namespace orrery {

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera);

/// The parts with their colours; one of all bodies if the scene has no parts.
void describe_parts(Legend& legend, const Parts& parts, render::Theme theme);

}  // namespace orrery
