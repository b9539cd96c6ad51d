#pragma once

#include <optional>
#include <vector>

#include "app/overlays/body_tracks.h"
#include "app/ui_state/overlay_commands.h"
#include "render/appearance.h"
#include "render/drawn_bodies.h"
#include "render/passes/line_renderer.h"

namespace orrery {

/// The time that trails last if nobody chose: a fast body then crosses a good part of the scene, of this radius.
double usual_trail_length(float radius, const render::ValueRanges& ranges);

/// Lines along the tracks that end at the bodies' places at `now` and fade into the past. Each has the body's colour of
/// speed, if bodies are coloured by that; `picked` stands out.
std::vector<render::DrawnLine> trail_lines(const BodyTracks& tracks, double now, TrailsOf of, std::optional<int> picked,
                                           const render::Appearance& appearance, const render::ValueRanges& ranges);

}  // namespace orrery
