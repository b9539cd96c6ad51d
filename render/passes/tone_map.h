#pragma once

#include <array>
#include <optional>

#include "render/appearance.h"
#include "render/colour_scale.h"
#include "render/gl/gl_objects.h"
#include "render/gl/program.h"

namespace orrery::render {

/// Turns light into a picture: colours, tone mapping, sRGB encoding, dithering. Needs a current context, load_gl()
/// done.
class ToneMap {
 public:
  ToneMap();

  /// Fills `picture`, a GL_RGBA8 image of the size of `light`. `glow` is what Glow::make() returned for the light.
  /// For automatic exposure, Meter::measure() comes first.
  void draw(const RenderTarget& light, unsigned glow, const Appearance& appearance, const RenderTarget& picture);
  /// Fills `picture` with the colours of the density on `scale`.
  void draw_density(const RenderTarget& density, const ColourScale& scale, const Appearance& appearance,
                    const RenderTarget& picture);

 private:
  const Program& lights_program(Theme theme, bool parts);
  void fill(const Program& program, const RenderTarget& light, const Appearance& appearance,
            const RenderTarget& picture) const;

  std::array<std::array<std::optional<Program>, 2>, 2> lights_programs_;  // by Theme and parts; made when needed
  Program density_program_{ComputeShader{"density.comp"}};
  std::array<std::array<Texture, 2>, 2> colours_;  // by Look and Theme: one row per colour map
};

}  // namespace orrery::render
