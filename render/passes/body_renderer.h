#pragma once

#include <optional>

#include "render/passes/body_light.h"
#include "render/passes/glow.h"
#include "render/passes/meter.h"
#include "render/passes/splats.h"
#include "render/passes/sprites.h"
#include "render/passes/tone_map.h"

namespace orrery::render {

/// Draws bodies as soft lights that add up, then glow, tone mapping and sRGB encoding. Allocates only if the picture's
/// size or the number of bodies changes, and never waits for the GPU. Needs a current context, load_gl() done.
class BodyRenderer {
 public:
  /// Fills the picture, a GL_RGBA8 image. Skips bodies with numbers that are not finite. Throws std::runtime_error if
  /// a shader does not compile or the memory is not enough.
  void draw(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
            const ValueRanges& ranges, const RenderTarget& picture);

  /// How the last draw() drew: by sprites or by splats.
  Drawing drawn() const noexcept { return drawn_; }

 private:
  /// What is faster here unless the user chose; sprites if splats are not possible.
  Drawing chosen(Drawing asked, int count) const;

  Sprites sprites_;
  std::optional<Splats> splats_;  // made when first drawn with
  Glow glow_;
  std::optional<Meter> meter_;  // while exposure is automatic
  ToneMap tone_map_;
  RenderTarget light_;
  const bool splats_are_fast_ = Splats::fast_here();
  Drawing drawn_ = Drawing::sprites;
};

}  // namespace orrery::render
