#include "render/passes/body_renderer.h"

#include "render/gl/gl.h"

namespace orrery::render {

Drawing BodyRenderer::chosen(Drawing asked, int count) const {
  const bool wanted = asked == Drawing::splats || (asked == Drawing::automatic && splats_are_fast_);
  const bool possible = Splats::can_draw(count, light_.width(), light_.height(), light_.format() == GL_RGBA32F);
  return wanted && possible ? Drawing::splats : Drawing::sprites;
}

void BodyRenderer::draw(const DrawnBodies& bodies, const OrbitCamera& camera, const Appearance& appearance,
                        const ValueRanges& ranges, const RenderTarget& picture) {
  const int width = picture.width(), height = picture.height();
  const unsigned format = shows_values(appearance) && bodies.values != 0 ? GL_RGBA32F : GL_RG32F;
  if (light_.width() != width || light_.height() != height || light_.format() != format) {
    light_ = {};  // frees the old memory first
    light_ = RenderTarget{format, width, height};
  }
  if (bodies.count <= 0) {
    constexpr float dark[4] = {};
    glClearNamedFramebufferfv(light_.framebuffer(), GL_COLOR, 0, dark);
  } else {
    const BodyLight body_light = orrery::render::body_light(bodies, camera, appearance, ranges, width, height);
    drawn_ = chosen(appearance.drawing, bodies.count);
    if (drawn_ == Drawing::splats) {
      if (!splats_) splats_.emplace();
      splats_->draw(bodies, body_light, light_);
    } else {
      sprites_.draw(bodies, body_light, light_);
    }
  }
  if (appearance.look == Look::density) {
    tone_map_.draw_density(light_, colour_scale(appearance, ranges), appearance, picture);
  } else {
    if (appearance.auto_exposure) {
      if (!meter_) meter_.emplace();
      meter_->measure(light_);
    } else {
      meter_.reset();
    }
    tone_map_.draw(light_, glow_.make(light_), appearance, picture);
  }
}

}  // namespace orrery::render
