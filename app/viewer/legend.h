#pragma once

#include <optional>
#include <string>

#include "app/ui_state/legend.h"
#include "compute/scenes/parts.h"
#include "compute/sim/engine/results.h"
#include "compute/snapshots/units.h"
#include "render/appearance.h"
#include "render/camera.h"
#include "render/drawn_bodies.h"

namespace orrery {

Legend legend_of(const render::Appearance& appearance, const render::ValueRanges& ranges,
                 const render::OrbitCamera& camera);

/// All of `whose` bodies have this value: the legend names it with its colour instead of a range. Needs the colours of
/// a range.
void describe_only_value(Legend& legend, const char* whose, float value, const std::optional<Units>& units);

/// No value is known: the legend has no colours and no ends, but says why.
void describe_no_values(Legend& legend, std::string why);

/// The values are classes: `time_step` times powers of two. Each within the range has a colour of its own.
void describe_classes(Legend& legend, const render::Appearance& appearance, const render::ValueRanges& ranges,
                      float time_step);

/// The parts with their colours; one of all bodies if the scene has no parts.
void describe_parts(Legend& legend, const Parts& parts, render::Theme theme);

/// The ranks or devices with their colours, or why they are not known. Null: they were not read yet.
void describe_domains(Legend& legend, const Domains* domains, render::Theme theme);

}  // namespace orrery
