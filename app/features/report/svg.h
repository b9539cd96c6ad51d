#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/text/plot.h"

namespace orrery {

struct SvgPlot {
  std::string html;         ///< HTML; the page's style sheet defines its colours
  std::size_t unnamed = 0;  ///< number of labels that did not fit
};

/// Draws a plot as wide as a page, and `height` pixels high. `words` describe it to readers who cannot see it.
SvgPlot svg_of(const Plot& plot, double height, std::string_view words);

}  // namespace orrery
