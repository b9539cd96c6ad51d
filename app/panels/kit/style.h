#pragma once

#include "app/panels/kit/theme.h"

namespace orrery {

/// Colours, spacing and fonts for a display of `scale` (1 = 96 dots an inch). Rebuilds the font atlas of the current
/// context, so call it outside a frame and, at later changes of scale, let the back end make its font texture again.
void apply_style(float scale, theme::Tone tone = theme::Tone::dark);

}  // namespace orrery
