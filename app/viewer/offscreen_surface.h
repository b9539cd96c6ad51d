#pragma once

#include "app/ui_state/window_size.h"
#include "app/viewer/picture_size.h"
#include "app/viewer/surface.h"
#include "render/gl/gl_objects.h"
#include "render/gl/offscreen_context.h"

namespace orrery {

/// A picture in memory, without a window or an X server. It has no input and does not wait for a display.
class OffscreenSurface final : public Surface {
 public:
  /// Throws std::runtime_error if no OpenGL 4.5 context can be made, and UsageError for a size that cannot be drawn;
  /// `panel`: it must have room for the panels.
  OffscreenSurface(WindowSize size, bool panel);

  const render::GlInfo& gl() const override { return context_.info(); }
  render::Canvas canvas() const override {
    return {target_.framebuffer(), target_.width(), target_.height(), target_.texture()};
  }
  float scale() const override { return scale_of_picture(size_); }
  GLFWwindow* window() const override { return nullptr; }

  void poll() override {}
  std::vector<std::string> take_dropped() override { return {}; }
  bool close_requested() const override { return false; }
  void stay_open() override {}
  void present() override;

  void set_vsync(bool) override {}
  bool vsync() const override { return false; }
  void toggle_fullscreen() override {}
  bool fullscreen() const override { return false; }
  std::optional<WindowPlace> place() const override { return {}; }
  void set_title(const std::string&) override {}

 private:
  render::OffscreenContext context_;
  WindowSize size_;
  render::RenderTarget target_;
};

}  // namespace orrery
