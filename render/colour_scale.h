#pragma once

#include "render/appearance.h"
#include "render/drawn_bodies.h"

namespace orrery::render {

/// How a value becomes a place in the colour map.
struct ColourScale {
  ValueRange range;  ///< low < high; if logarithmic, both are > 0
  bool logarithmic = false;

  /// Where `value` is in the map: 0 to 1 within the range.
  float place(float value) const;
};

/// Of the quantity that the picture shows. `automatic` has the ends that the user did not fix.
ColourScale colour_scale(const Appearance& appearance, const ValueRanges& automatic);

}  // namespace orrery::render
