#pragma once

#include "render/appearance.h"

namespace orrery::render::test {

/// Ways to colour bodies, one for each path of the renderer.
inline constexpr ColourBy by_mass{
    .source = ColourBy::Source::computed, .glsl = "position.w", .range = &ValueRanges::mass};
inline constexpr ColourBy by_value{.source = ColourBy::Source::values};
inline constexpr ColourBy by_part{.source = ColourBy::Source::parts, .map = "stellar"};
inline constexpr ColourBy by_nothing{.source = ColourBy::Source::none, .map = "stellar"};

}  // namespace orrery::render::test
