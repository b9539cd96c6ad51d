#pragma once

#include <optional>

#include "app/ui_state/legend.h"
#include "compute/scenes/parts.h"
#include "compute/snapshots/units.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/drawn_bodies.h"

namespace orrery {

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera);

/// All bodies have this mass, and so the last colour. Call for the colours of an automatic range of masses.
void describe_only_mass(Legend& legend, float mass, const std::optional<Units>& units);

/// The values are classes: `time_step` times powers of two. Each within the range has a colour of its own.
void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step);

/// The parts with their colours; one of all bodies if the scene has no parts.
void describe_parts(Legend& legend, const Parts& parts, render::Theme theme);

}  // namespace orrery
