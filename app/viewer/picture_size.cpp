#include "app/viewer/picture_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/error.h"

namespace orrery {

WindowSize allowed_size(WindowSize asked, WindowSize least, const render::GlInfo& gl) {
  const bool large_enough = asked.width >= least.width && asked.height >= least.height;
  if (large_enough && std::max(asked.width, asked.height) <= gl.max_side) return asked;
  throw UsageError(
      fmt::format("--size cannot be {}x{}; here it must be from {}x{}, which has room for the panels, to "
                  "{}x{}, which OpenGL can draw",
                  asked.width, asked.height, least.width, least.height, gl.max_side, gl.max_side));
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
