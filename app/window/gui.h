#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "app/panels/kit/theme.h"
#include "app/window/keys.h"
#include "app/window/panel_painter.h"
#include "app/window/window.h"
#include "render/passes/compose.h"

struct ImGuiContext;
struct ImGuiIO;

namespace orrery {

/// Decides when the panels are laid out again: at most 125 times per second during use, otherwise 10 times.
class LayoutPace {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// Records input. Call when the user moved the pointer, pressed a key and so on.
  void used(Time now) { used_ = now; }
  void laid_out(Time now) { laid_out_ = now; }
  /// Makes a layout due. Call when the last layout cannot be drawn again.
  void forget() { laid_out_.reset(); }

  bool due(Time now) const {
    if (!laid_out_) return true;
    const bool in_use = used_ && now - *used_ < std::chrono::milliseconds{300};  // reactions to input settle
    return now - *laid_out_ >= std::chrono::milliseconds{in_use ? 8 : 100};
  }

 private:
  std::optional<Time> laid_out_, used_;
};

/// Returns rectangles that cover the same pixels as `rects` without overlap.
std::vector<render::PixelRect> merge_overlapping(std::vector<render::PixelRect> rects);

/// Picture of the panels' last layout. Frames that change nothing in the panels draw it over the bodies, which costs
/// much less than drawing every letter. Requires a current context after load_gl().
class PanelPicture {
 public:
  /// Takes what ImGui has laid out, for a canvas of this size, as `painter` draws it.
  void take(const ImDrawData& laid_out, PanelPainter& painter, int width, int height);
  /// Draws the picture over a canvas of the size of the last take().
  void draw(const render::Canvas& canvas) const;

 private:
  render::Blend blend_;
  render::RenderTarget picture_;
  std::vector<render::PixelRect> parts_;
};

/// A key, character or mouse button event of GLFW.
struct InputEvent {
  enum class What { key, character, button };
  What what = What::key;
  int code = 0;    ///< GLFW_KEY_*, a Unicode code point, or GLFW_MOUSE_BUTTON_*
  int action = 1;  ///< GLFW_PRESS, GLFW_RELEASE or GLFW_REPEAT
  int scancode = 0, modifiers = 0;
  double x = 0, y = 0;              ///< pointer in window coordinates, for buttons
  std::optional<KeyPress> press{};  ///< entry for the table of keys; none for releases and buttons
};

/// Events that the panels have not seen, in order. Many may arrive during a slow frame. But in one layout, Dear ImGui
/// 1.86 sees all characters before all keys, and only the last state of each key and button. So the queue is delivered
/// in parts, with a layout for each.
class InputQueue {
 public:
  /// Adds a key event. `name` is the key's name on this keyboard, see glfwGetKeyName; null if it has none.
  void add_key(int key, int scancode, int action, int modifiers, const char* name);
  void add_character(unsigned character);
  void add_button(int button, int action, int modifiers, double x, double y);

  bool empty() const { return events_.empty(); }
  /// Removes and returns the first events, as many as one layout handles in order. Empty if there are none.
  std::vector<InputEvent> take_part();

 private:
  bool ends_part() const;
  bool begins_part() const;

  std::deque<InputEvent> events_;
  bool shift_ = false, repeated_ = false;  // state of the latest key, whose characters follow
};

/// Dear ImGui on a surface, with GLFW's events if there is a window and no input otherwise.
class Gui {
 public:
  explicit Gui(const Surface& surface);
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;
  ~Gui();

  /// Returns whether widgets must be laid out again for the next picture: LayoutPace says so, a mouse button is held,
  /// or size, style or font have changed.
  bool needs_layout();

  /// Starts a layout: gives ImGui the pointer and the frame's size. Call before any widget. `seconds` is the time since
  /// the last begin_frame().
  void begin_frame(double seconds);

  /// Returns whether keys, characters or mouse buttons wait. Layouts before the next picture deliver them in parts.
  bool has_events() const { return !events_.empty(); }
  /// Does what begin_frame() does, and delivers the next part of the events. Returns, in order, its key presses that no
  /// text field takes.
  std::vector<KeyPress> begin_frame_with_events(double seconds);
  /// Ends a layout without drawing it.
  void end_unseen_frame();

  /// Draws the widgets onto the surface. If the environment variable ORRERY_UI_LAYOUT names a file, also writes the
  /// places of marked widgets to it, a few times per second.
  void end_frame();
  /// Draws the widgets of the last end_frame() again.
  void draw_again();

  /// Number of frames until all ImGui windows have their final places. A window that fits its content has its size one
  /// frame later, and others then make room for it.
  static constexpr int frames_to_settle = 3;

  /// Draws `widgets`, enlarged by the factor `times`, onto `canvas`, which is `times` the surface's size. They get no
  /// input. Call between two frames.
  void draw_enlarged(float times, const render::Canvas& canvas, const std::function<void()>& widgets);

  /// Returns the display's scale, or less in a small window.
  float display_scale() const;

  /// Scales fonts and widgets by the factor `times` relative to display_scale(), from the next frame on.
  void magnify(float times) { magnified_ = times; }

  /// Sets the theme from the next frame on.
  void set_theme(theme::Tone tone) { tone_ = tone; }

  const ImGuiIO& io() const;

 private:
  void listen(GLFWwindow* window);
  void begin(double seconds, const std::vector<InputEvent>& part);
  bool pointer_is_used();
  bool style_changed() const;
  void follow_style();
  void write_layout();

  const Surface& surface_;
  ImGuiContext* context_;
  float scale_;  // scale of the current style
  float magnified_ = 1;
  theme::Tone tone_ = theme::Tone::dark, styled_tone_ = theme::Tone::dark;  // requested, and of the style
  double seconds_to_layout_ = 0;
  LayoutPace pace_;
  std::optional<PanelPainter> painter_;  // made after the fonts
  std::optional<PanelPicture> picture_;  // none with software OpenGL, where a render target costs more
  std::array<double, 2> pointer_{};
  InputQueue events_;  // events that ImGui has not received yet
};

}  // namespace orrery
