#include "app/viewer/scene_picture.h"

#include <glad/gl.h>

namespace orrery {

void ScenePicture::draw(const render::DrawnBodies& bodies, bool moved, const render::OrbitCamera& camera,
                        const render::Appearance& appearance, const render::ValueRanges& ranges,
                        const render::Canvas& canvas, const OverlayPainter& overlays) {
  const int width = canvas.width, height = canvas.height;
  if (width < 1 || height < 1) return;
  const float aspect = static_cast<float>(width) / static_cast<float>(height);
  const Look look{camera.view(), camera.projection(aspect), camera.framed_radius(), appearance, width, height};
  if (moved || look != kept_look_) {
    if (kept_.width() != width || kept_.height() != height) {
      kept_look_.reset();
      kept_ = render::RenderTarget{GL_RGBA8, width, height};
    }
    renderer_.draw(bodies, camera, appearance, ranges, kept_);
    overlays.draw(camera, {.framebuffer = kept_.framebuffer(), .width = width, .height = height});
    kept_look_ = look;
  }
  copy_.draw(kept_, canvas);
}

}  // namespace orrery
