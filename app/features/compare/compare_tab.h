#pragma once

#include <imgui.h>

#include <array>

#include "app/panels/kit/theme.h"

namespace orrery {

/// Colours of the runs A and B of a comparison, as the picture draws one over the other: the first two of
/// render::part_colours().
inline constexpr std::array run_colours{theme::Colour{IM_COL32(86, 180, 233, 255), IM_COL32(63, 136, 178, 255)},
                                        theme::Colour{IM_COL32(230, 159, 0, 255), IM_COL32(173, 119, 0, 255)}};

}  // namespace orrery
