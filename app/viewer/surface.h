#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/window_size.h"
#include "render/canvas.h"
#include "render/gl/gl.h"

struct GLFWwindow;

namespace orrery {

/// Where frames go: a window, or a picture in memory. Its OpenGL context is current from construction to destruction.
class Surface {
 public:
  virtual ~Surface() = default;

  virtual const render::GlInfo& gl() const = 0;
  /// Framebuffer and its size in pixels; a minimized window has no area.
  virtual render::Canvas canvas() const = 0;
  /// The display's scale: 1 = 96 window coordinates per inch.
  virtual float scale() const = 0;
  /// For ImGui's back end; null if there is no window.
  virtual GLFWwindow* window() const = 0;

  /// Processes events: calls their callbacks.
  virtual void poll() = 0;
  /// Returns the files that were dropped on the window since the last call.
  virtual std::vector<std::string> take_dropped() = 0;
  virtual bool close_requested() const = 0;
  /// Withdraws the request to close.
  virtual void stay_open() = 0;
  /// Shows the frame. Waits for the display if vsync is on.
  virtual void present() = 0;

  virtual void set_vsync(bool on) = 0;
  virtual bool vsync() const = 0;
  virtual void toggle_fullscreen() = 0;
  virtual bool fullscreen() const = 0;
  /// Where the window is while it is not in full screen; empty if there is none.
  virtual std::optional<WindowPlace> place() const = 0;
  virtual void set_title(const std::string& title) = 0;
};

}  // namespace orrery
