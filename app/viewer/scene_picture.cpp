#include "app/viewer/scene_picture.h"

#include <glad/gl.h>

namespace orrery {

void ScenePicture::draw(const render::DrawnBodies& bodies, bool moved, const render::OrbitCamera& camera,
                        const render::Appearance& appearance, const render::ValueRanges& ranges,
                        const render::Canvas& canvas) {
  if (canvas.width < 1 || canvas.height < 1) return;
  const Look look{camera.view(), camera.framed_radius(), appearance, canvas.width, canvas.height};
  if (moved || look != kept_look_) {
    if (kept_.width() != canvas.width || kept_.height() != canvas.height) {
      kept_look_.reset();
      kept_ = render::RenderTarget{GL_RGBA8, canvas.width, canvas.height};
    }
    renderer_.draw(bodies, camera, appearance, ranges, {kept_.framebuffer(), canvas.width, canvas.height});
    kept_look_ = look;
  }
  glBlitNamedFramebuffer(kept_.framebuffer(), canvas.framebuffer, 0, 0, canvas.width, canvas.height, 0, 0, canvas.width,
                         canvas.height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

}  // namespace orrery
