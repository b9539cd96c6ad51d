#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/window_size.h"
#include "app/viewer/surface.h"

namespace orrery {

/// A window on the desktop with an OpenGL 4.5 core context.
class Window final : public Surface {
 public:
  /// Throws std::runtime_error, one line, if there is no display or its OpenGL is older than 4.5, and UsageError for
  /// a size that cannot be drawn here. No size: the default, times the display's scale. `place` is where to open it
  /// instead, as far as it can be seen there.
  Window(std::optional<WindowSize> size, bool vsync, const std::optional<WindowPlace>& place = std::nullopt);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// What draws a window on this display, tried without showing one. Throws std::runtime_error as the constructor does.
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
  struct Library {  // GLFW, from its initialization to its termination
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
  WindowPlace windowed_;  // where to go back to from full screen
  std::vector<std::string> dropped_;
  int refresh_rate_ = 60;  // of the monitor that shows the window, in Hz
  Clock::time_point presented_{};
};

}  // namespace orrery
