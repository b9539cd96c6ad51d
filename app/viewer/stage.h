#pragma once

#include <array>
#include <glm/glm.hpp>

#include "render/canvas.h"

namespace orrery {

/// A part of the window that shows one picture. Places are in shares from an upper left corner, lengths in pixels.
struct StagePart {
  render::Canvas canvas;   ///< this part of the window
  float share = 1;         ///< see OrbitCamera::fit_into()
  glm::vec2 middle{0.0f};  ///< likewise
  int window_width = 0;    ///< 0: the part is not known yet, and places are those of the window

  /// A place in this part as one in the window, and back.
  glm::vec2 to_window(glm::vec2 place) const;
  glm::vec2 from_window(glm::vec2 place) const;
};

/// The whole of the window. `covered`: the shares of its width at the left, of its height at the bottom, and of its
/// width at the right that panels cover.
StagePart whole_stage(const render::Canvas& window, glm::vec3 covered);
/// What is not covered, in two halves side by side, at the same scale. Each also has what panels cover beside it.
std::array<StagePart, 2> split_stage(const render::Canvas& window, glm::vec3 covered);

}  // namespace orrery
