#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/text/plot.h"

namespace orrery {

struct SvgPlot {
  std::string html;         ///< the styles of a page name its colours
  std::size_t unnamed = 0;  ///< number of marks whose label has no room
};

/// Draws a plot as wide as a page, and of this height in pixels. `words` describe it to a reader who does not see it.
SvgPlot svg_of(const Plot& plot, double height, std::string_view words);

}  // namespace orrery
