// Output of frames: a window on the desktop or a picture in memory.
#include "app/window/window.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "render/image.h"

namespace orrery {
WindowSize allowed_size(WindowSize asked, WindowSize least, const render::GlInfo& gl) {
  const bool large_enough = asked.width >= least.width && asked.height >= least.height;
  const int most = std::min(most_side, gl.max_side);
  if (large_enough && std::max(asked.width, asked.height) <= most) return asked;
  throw UsageError(fmt::format("--size cannot be {0}x{1}; on this display it must be from {2}x{3} to {4}x{4}",
                               asked.width, asked.height, least.width, least.height, most));
}

WindowSize least_window_at(float scale) {
  const auto scaled = [&](int pixels) { return static_cast<int>(std::ceil(static_cast<float>(pixels) * scale)); };
  return {scaled(least_window.width), scaled(least_window.height)};
}

float scale_of_picture(WindowSize size) {
  constexpr WindowSize display{1920, 1080};
  return std::max(1.0f, std::min(static_cast<float>(size.width) / static_cast<float>(display.width),
                                 static_cast<float>(size.height) / static_cast<float>(display.height)));
}
namespace {

std::string last_glfw_error() {
  const char* text = nullptr;
  return glfwGetError(&text) == GLFW_NO_ERROR || !text ? "no reason given" : text;
}

Window& owner(GLFWwindow* window) {
  return *static_cast<Window*>(glfwGetWindowUserPointer(window));
}

/// Sets the hints for a core context. `reports_resets`: the context is lost on a reset, see
/// render::context_was_reset().
void ask_for_core_profile(bool reports_resets) {
  glfwDefaultWindowHints();
  if (reports_resets) glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "Orrery");  // the class that the desktop entry names
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "orrery");
  glfwWindowHint(GLFW_DEPTH_BITS, 0);
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
}

/// Returns the display's default version of OpenGL; empty if it has none.
std::string offered_gl_version() {
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  GLFWwindow* window = glfwCreateWindow(64, 64, "", nullptr, nullptr);
  if (!window) return {};
  const std::string version = fmt::format("{}.{}", glfwGetWindowAttrib(window, GLFW_CONTEXT_VERSION_MAJOR),
                                          glfwGetWindowAttrib(window, GLFW_CONTEXT_VERSION_MINOR));
  glfwDestroyWindow(window);
  return version;
}

/// Sets the window's icon. Desktops that take icons only from desktop entries, such as Wayland's, ignore it.
void set_icon(GLFWwindow* window) {
  std::vector<render::Icon> icons = render::icons();
  std::vector<GLFWimage> images;
  for (render::Icon& icon : icons) images.push_back({icon.width, icon.height, icon.rgba.data()});
  glfwSetWindowIcon(window, static_cast<int>(images.size()), images.data());
}

/// Returns a window, or null if the display cannot create it.
GLFWwindow* try_window(std::optional<WindowSize> size, bool visible, bool reports_resets) {
  ask_for_core_profile(reports_resets);
  glfwWindowHint(GLFW_VISIBLE, visible ? GLFW_TRUE : GLFW_FALSE);
  // A size from the user is in pixels. The default size is scaled to look the same on every display.
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, size ? GLFW_FALSE : GLFW_TRUE);
  const auto [width, height] = size.value_or(WindowSize{});
  return glfwCreateWindow(width, height, "Orrery", nullptr, nullptr);
}

GLFWwindow* create_window(std::optional<WindowSize> size, bool visible) {
  for (const bool reports_resets : {true, false}) {
    if (GLFWwindow* window = try_window(size, visible, reports_resets)) return window;
  }
  const std::string why = last_glfw_error();
  const std::string offered = offered_gl_version();
  if (offered.empty()) {
    throw std::runtime_error(
        fmt::format("cannot open a window with OpenGL on this display ({}); "
                    "--offscreen runs without one",
                    why));
  }
  throw std::runtime_error(
      fmt::format("Orrery needs OpenGL 4.5 core; this display offers {} ({}). Update the graphics "
                  "driver, or run with LIBGL_ALWAYS_SOFTWARE=1 or --offscreen",
                  offered, why));
}

/// Returns the monitor that shows most of the window; null if none shows any of it.
GLFWmonitor* monitor_of(const WindowPlace& place) {
  int count = 0, best_area = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = nullptr;
  for (int i = 0; i < count; ++i) {
    int mx = 0, my = 0;
    glfwGetMonitorPos(monitors[i], &mx, &my);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    const int w = std::min(place.x + place.size.width, mx + mode->width) - std::max(place.x, mx);
    const int h = std::min(place.y + place.size.height, my + mode->height) - std::max(place.y, my);
    const int area = std::max(w, 0) * std::max(h, 0);
    if (area > best_area) best_area = area, best = monitors[i];
  }
  return best;
}

GLFWmonitor* monitor_of_or_any(const WindowPlace& place) {
  GLFWmonitor* const best = monitor_of(place);
  return best ? best : glfwGetPrimaryMonitor();
}

std::string no_display(const std::string& cause, const char* x11, const char* wayland) {
  const bool only_wayland = wayland && *wayland && (!x11 || !*x11);
  return fmt::format(
      "no display: cannot open a window ({}). {}, or run with --offscreen", cause,
      only_wayland ? "A window needs X11, and WAYLAND_DISPLAY names a display of Wayland alone: start XWayland and set "
                     "DISPLAY to it"
                   : "Set DISPLAY to an X server");
}

}  // namespace

Window::Library::Library() {
  if (glfwInit() == GLFW_TRUE) return;
  throw std::runtime_error(no_display(last_glfw_error(), std::getenv("DISPLAY"), std::getenv("WAYLAND_DISPLAY")));
}

Window::Library::~Library() {
  glfwTerminate();
}

void Window::Destroy::operator()(GLFWwindow* window) const noexcept {
  glfwDestroyWindow(window);
}

Window::Window(std::optional<WindowSize> size, bool vsync, const std::optional<WindowPlace>& place)
    : window_{create_window(size, true)} {
  GLFWwindow* window = window_.get();
  glfwSetWindowUserPointer(window, this);
  set_icon(window);
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    owner(w).dropped_.insert(owner(w).dropped_.end(), paths, paths + count);
  });
  glfwSetWindowPosCallback(window, [](GLFWwindow* w, int, int) { owner(w).follow_monitor(); });
  glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { owner(w).limit_size(); });
  follow_monitor();
  glfwMakeContextCurrent(window);
  gl_ = render::load_gl(glfwGetProcAddress);
  if (size) (void)allowed_size(*size, least_window_at(scale()), gl_);
  limit_size();
  if (place) move_to(*place);
  set_vsync(vsync);
}

std::string Window::renderer() {
  const Library library;
  const std::unique_ptr<GLFWwindow, Destroy> hidden{create_window({}, false)};
  glfwMakeContextCurrent(hidden.get());
  return render::load_gl(glfwGetProcAddress).renderer;
}

render::Canvas Window::canvas() const {
  render::Canvas canvas;
  glfwGetFramebufferSize(window_.get(), &canvas.width, &canvas.height);
  return canvas;
}

float Window::scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_.get(), &x, &y);
  int width = 0;
  glfwGetWindowSize(window_.get(), &width, nullptr);
  const int pixels = canvas().width;  // above the width if the system scales windows
  const float enlarged = width > 0 && pixels > 0 ? static_cast<float>(pixels) / static_cast<float>(width) : 1;
  return std::clamp(std::max(x, y) / enlarged, 0.5f, 4.0f);
}

void Window::poll() {
  glfwPollEvents();
}

std::vector<std::string> Window::take_dropped() {
  return std::exchange(dropped_, {});
}

void Window::stay_open() {
  glfwSetWindowShouldClose(window_.get(), GLFW_FALSE);
}

bool Window::close_requested() const {
  return glfwWindowShouldClose(window_.get()) == GLFW_TRUE;
}

/// Presents the frame. If the driver ignores vsync (a virtual or remote display), the clock paces the frames: drawing
/// the same picture more often would only take processors from the simulation.
void Window::present() {
  glfwSwapBuffers(window_.get());
  if (vsync_) {
    // Waits a millisecond less than a frame, so that a display with vsync is never delayed.
    std::this_thread::sleep_until(presented_ + std::chrono::microseconds{1'000'000 / refresh_rate_ - 1000});
  }
  presented_ = Clock::now();
}

void Window::follow_monitor() {
  GLFWmonitor* monitor = glfwGetWindowMonitor(window_.get());
  if (!monitor) monitor = monitor_of_or_any(present_place());
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
  refresh_rate_ = mode && mode->refreshRate > 0 ? mode->refreshRate : 60;
}

/// Limits the window's size: the panels need room, and OpenGL has a maximum.
void Window::limit_size() {
  const WindowSize least = least_window_at(scale());
  glfwSetWindowSizeLimits(window_.get(), least.width, least.height, gl_.max_side, gl_.max_side);
}

WindowPlace Window::present_place() const {
  WindowPlace place;
  glfwGetWindowPos(window_.get(), &place.x, &place.y);
  glfwGetWindowSize(window_.get(), &place.size.width, &place.size.height);
  return place;
}

std::optional<WindowPlace> Window::place() const {
  return fullscreen() ? windowed_ : present_place();
}

/// Moves the window. The place may come from another display: limits the size to the monitor's, and ignores a position
/// that no monitor shows.
void Window::move_to(WindowPlace place) {
  const WindowSize least = least_window_at(scale());
  GLFWmonitor* const monitor = monitor_of(place);
  const GLFWvidmode* const mode = glfwGetVideoMode(monitor ? monitor : glfwGetPrimaryMonitor());
  if (!mode) return;
  glfwSetWindowSize(window_.get(), std::clamp(place.size.width, least.width, std::max(least.width, mode->width)),
                    std::clamp(place.size.height, least.height, std::max(least.height, mode->height)));
  if (monitor) glfwSetWindowPos(window_.get(), place.x, place.y);
}

void Window::set_vsync(bool on) {
  vsync_ = on;
  glfwSwapInterval(on ? 1 : 0);
}

bool Window::fullscreen() const {
  return glfwGetWindowMonitor(window_.get()) != nullptr;
}

void Window::toggle_fullscreen() {
  GLFWwindow* window = window_.get();
  if (fullscreen()) {
    glfwSetWindowMonitor(window, nullptr, windowed_.x, windowed_.y, windowed_.size.width, windowed_.size.height,
                         GLFW_DONT_CARE);
  } else {
    windowed_ = present_place();
    GLFWmonitor* monitor = monitor_of_or_any(windowed_);
    if (!monitor) return;
    const GLFWvidmode* mode = glfwGetVideoMode(monitor);
    glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
  }
  follow_monitor();
  glfwSwapInterval(vsync_ ? 1 : 0);  // some drivers reset the interval
}

void Window::set_title(const std::string& title) {
  glfwSetWindowTitle(window_.get(), title.c_str());
}

OffscreenSurface::OffscreenSurface(WindowSize size, bool panel)
    : size_{allowed_size(size, panel ? least_window : least_picture, context_.info())},
      target_{GL_RGBA8, size_.width, size_.height} {}

/// Flushes the commands. Without a swap, a driver might collect those of many frames before it starts.
void OffscreenSurface::present() {
  glFlush();
}

}  // namespace orrery
