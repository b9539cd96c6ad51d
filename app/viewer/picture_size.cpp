#include "app/viewer/picture_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/text/parse_value.h"
#include "compute/core/error.h"

namespace orrery {

WindowSize allowed_size(WindowSize asked, WindowSize least, const render::GlInfo& gl) {
  const bool large_enough = asked.width >= least.width && asked.height >= least.height;
  const int most = std::min(most_side, gl.max_side);
  if (large_enough && std::max(asked.width, asked.height) <= most) return asked;
  throw UsageError(fmt::format("--size cannot be {0}x{1}; on this display it must be from {2}x{3} to {4}x{4}",
                               asked.width, asked.height, least.width, least.height, most));
}

WindowSize least_window_at(float scale) {
  const auto scaled = [&](int pixels) { return static_cast<int>(std::ceil(static_cast<float>(pixels) * scale)); };
  return {scaled(least_window.width), scaled(least_window.height)};
}

float scale_of_picture(WindowSize size) {
  constexpr WindowSize display{1920, 1080};
  return std::max(1.0f, std::min(static_cast<float>(size.width) / static_cast<float>(display.width),
                                 static_cast<float>(size.height) / static_cast<float>(display.height)));
}

}  // namespace orrery
