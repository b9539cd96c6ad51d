#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/picture_options.h"
#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"

struct GLFWwindow;

namespace orrery {

/// Returns `asked` if it is at least `least` and OpenGL can draw it. Otherwise throws UsageError, one line.
WindowSize allowed_size(WindowSize asked, WindowSize least, const render::GlInfo& gl);

/// Returns the smallest window size in pixels, least_window, for a display of `scale` (1 = 96 dots per inch).
WindowSize least_window_at(float scale);

/// Returns the scale of the panels in a picture without a display: 1 up to 1920 x 1080 pixels, 2 for 3840 x 2160.
float scale_of_picture(WindowSize size);

/// Output of frames: a window, or a picture in memory. Its OpenGL context is current from construction to destruction.
class Surface {
 public:
  virtual ~Surface() = default;

  virtual const render::GlInfo& gl() const = 0;
  /// Returns the framebuffer and its size in pixels. A minimized window has no area.
  virtual render::Canvas canvas() const = 0;
  /// Returns the display's scale: 1 = 96 window coordinates per inch.
  virtual float scale() const = 0;
  /// Returns the window for ImGui's back end; null if there is none.
  virtual GLFWwindow* window() const = 0;

  /// Processes the pending events by calling their callbacks.
  virtual void poll() = 0;
  /// Returns the files that were dropped on the window since the last call.
  virtual std::vector<std::string> take_dropped() = 0;
  virtual bool close_requested() const = 0;
  /// Cancels the request to close.
  virtual void stay_open() = 0;
  /// Shows the frame. Waits for the display if vsync is on.
  virtual void present() = 0;

  virtual void set_vsync(bool on) = 0;
  virtual bool vsync() const = 0;
  virtual void toggle_fullscreen() = 0;
  virtual bool fullscreen() const = 0;
  /// Returns the window's place outside of full screen; none without a window.
  virtual std::optional<WindowPlace> place() const = 0;
  virtual void set_title(const std::string& title) = 0;
};

/// A window on the desktop with an OpenGL 4.5 core context.
class Window final : public Surface {
 public:
  /// Opens a window. Without `size`, uses the default size times the display's scale. `place` sets position and size
  /// instead, as far as they are visible. Throws std::runtime_error, one line, if there is no display or its OpenGL is
  /// older than 4.5. Throws UsageError for a size that cannot be drawn here.
  Window(std::optional<WindowSize> size, bool vsync, const std::optional<WindowPlace>& place = std::nullopt);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Returns the OpenGL renderer of windows on this display, from a hidden window. Throws std::runtime_error as the
  /// constructor does.
  static std::string renderer();

  const render::GlInfo& gl() const override { return gl_; }
  render::Canvas canvas() const override;
  float scale() const override;
  GLFWwindow* window() const override { return window_.get(); }

  void poll() override;
  std::vector<std::string> take_dropped() override;
  bool close_requested() const override;
  void stay_open() override;
  void present() override;

  void set_vsync(bool on) override;
  bool vsync() const override { return vsync_; }
  void toggle_fullscreen() override;
  bool fullscreen() const override;
  std::optional<WindowPlace> place() const override;
  void set_title(const std::string& title) override;

 private:
  struct Library {  // initializes GLFW, and terminates it
    Library();
    ~Library();
  };
  struct Destroy {
    void operator()(GLFWwindow* window) const noexcept;
  };
  void follow_monitor();
  void limit_size();
  void move_to(WindowPlace place);
  WindowPlace present_place() const;

  using Clock = std::chrono::steady_clock;

  Library library_;
  std::unique_ptr<GLFWwindow, Destroy> window_;
  render::GlInfo gl_;
  bool vsync_ = true;
  WindowPlace windowed_;  // place to return to from full screen
  std::vector<std::string> dropped_;
  int refresh_rate_ = 60;  // refresh rate of the monitor that shows the window, in Hz
  Clock::time_point presented_{};
};

/// A picture in memory, without a window or an X server. It has no input and never waits for a display.
class OffscreenSurface final : public Surface {
 public:
  /// Creates the picture. Throws std::runtime_error if there is no OpenGL 4.5 context. Throws UsageError for a size
  /// that cannot be drawn or, with `panel`, is too small for the panels.
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
