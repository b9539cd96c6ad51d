#pragma once

#include <optional>

#include "app/overlays/overlay_painter.h"
#include "render/camera.h"
#include "render/canvas.h"
#include "render/gl/gl_objects.h"
#include "render/passes/body_renderer.h"
#include "render/passes/copy.h"

namespace orrery {

/// Draws the bodies and the overlays onto a canvas, and keeps the picture. During a long step of a CPU kernel,
/// frames reuse it, so that a software renderer leaves the processors to the kernel.
class ScenePicture {
 public:
  /// `moved`: bodies, ranges or overlays are not those of the last call.
  void draw(const render::DrawnBodies& bodies, bool moved, const render::OrbitCamera& camera,
            const render::Appearance& appearance, const render::ValueRanges& ranges, const render::Canvas& canvas,
            const OverlayPainter& overlays);
  /// How the bodies were drawn last: by sprites or by splats.
  render::Drawing drawn() const noexcept { return renderer_.drawn(); }

 private:
  struct Look {  // the other inputs of a picture
    glm::mat4 view, projection;
    float framed_radius;
    render::Appearance appearance;
    int width, height;
    friend bool operator==(const Look&, const Look&) = default;
  };

  render::BodyRenderer renderer_;
  render::Copy copy_;
  render::RenderTarget kept_;
  std::optional<Look> kept_look_;
};

}  // namespace orrery
