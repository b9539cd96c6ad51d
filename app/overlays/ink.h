#pragma once

#include <glm/glm.hpp>

#include "app/ui_state/legend.h"
#include "render/appearance.h"

namespace orrery {

/// A colour on a dark ground and its counterpart on white, sRGB.
struct Ink {
  glm::vec3 on_dark, on_light;

  glm::vec3 in(render::Theme theme) const { return theme == render::Theme::light ? on_light : on_dark; }
  glm::vec4 in(render::Theme theme, float opacity) const { return {in(theme), opacity}; }
};

inline SrgbColour as_values(glm::vec3 colour) {
  return {colour.r, colour.g, colour.b};
}

}  // namespace orrery
