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

/// Decides when the panels are laid out again: at most 125 times per second while somebody uses them, otherwise 10
/// times.
class LayoutPace {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// Call when somebody moved the pointer, pressed a key and so on.
  void used(Time now) { used_ = now; }
  void laid_out(Time now) { laid_out_ = now; }
  /// Call when the last layout cannot be drawn again.
  void forget() { laid_out_.reset(); }

  bool due(Time now) const {
    if (!laid_out_) return true;
    const bool in_use = used_ && now - *used_ < std::chrono::milliseconds{300};  // what input has moved comes to rest
    return now - *laid_out_ >= std::chrono::milliseconds{in_use ? 8 : 100};
  }

 private:
  std::optional<Time> laid_out_, used_;
};

/// Rectangles that cover the same pixels, and none of them twice.
std::vector<render::PixelRect> merge_overlapping(std::vector<render::PixelRect> rects);

/// The panels as they were laid out last, as a picture: frames that change nothing in the panels lay it over the
/// bodies, at a small part of the cost of drawing every letter. Needs a current context, load_gl() done.
class PanelPicture {
 public:
  /// Takes what ImGui has laid out, for a canvas of this size, as `painter` draws it.
  void take(const ImDrawData& laid_out, PanelPainter& painter, int width, int height);
  /// The canvas has the size of the last take().
  void draw(const render::Canvas& canvas) const;

 private:
  render::Blend blend_;
  render::RenderTarget picture_;
  std::vector<render::PixelRect> parts_;
};

/// A key, a character or a mouse button, as GLFW reports it.
struct InputEvent {
  enum class What { key, character, button };
  What what = What::key;
  int code = 0;    ///< GLFW_KEY_*, a Unicode code point, or GLFW_MOUSE_BUTTON_*
  int action = 1;  ///< GLFW_PRESS, GLFW_RELEASE or GLFW_REPEAT
  int scancode = 0, modifiers = 0;
  double x = 0, y = 0;              ///< of the pointer, in window coordinates; for buttons
  std::optional<KeyPress> press{};  ///< for the table of keys; none for releases and buttons
};

/// Events that the panels have not seen, in the order in which they came. Many may come during a slow frame, but of one
/// layout, Dear ImGui 1.86 sees all characters before all keys, and only the last state of each key and button. So the
/// events are given to it in parts, with a layout for each.
class InputQueue {
 public:
  /// `name`: of the key on this keyboard, see glfwGetKeyName; null if it has none.
  void add_key(int key, int scancode, int action, int modifiers, const char* name);
  void add_character(unsigned character);
  void add_button(int button, int action, int modifiers, double x, double y);

  bool empty() const { return events_.empty(); }
  /// Removes and returns the first events, as many as one layout sees in their order. Empty if there are none.
  std::vector<InputEvent> take_part();

 private:
  bool ends_part() const;
  bool begins_part() const;

  std::deque<InputEvent> events_;
  bool shift_ = false, repeated_ = false;  // of the latest key, which types the characters that follow
};

/// Dear ImGui on a surface. It has GLFW's events if there is a window, and no input otherwise.
class Gui {
 public:
  explicit Gui(const Surface& surface);
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;
  ~Gui();

  /// Whether widgets must be laid out again for the next picture: when LayoutPace says so, a mouse button is held, or
  /// size, style or type have changed.
  bool needs_layout();

  /// Gives ImGui the pointer and the frame's size. Call before any widget. `seconds` since the last call.
  void begin_frame(double seconds);

  /// Whether keys, characters or mouse buttons wait. Layouts before the next picture deliver them, a part each.
  bool has_events() const { return !events_.empty(); }
  /// Does what begin_frame() does, with the next part of the events. Returns the key presses among them that no text
  /// field takes, in order.
  std::vector<KeyPress> begin_frame_with_events(double seconds);
  /// Ends a layout that is not drawn.
  void end_unseen_frame();

  /// Draws the widgets onto the surface. With ORRERY_UI_LAYOUT=FILE in the environment it also writes
  /// the places of the marked widgets to that file, a few times per second.
  void end_frame();
  /// Draws the widgets of the last end_frame() once more.
  void draw_again();

  /// Frames until all windows have their places: one that fits its content has its size only a frame later, and others
  /// make room for it.
  static constexpr int frames_to_settle = 3;

  /// Draws `widgets` onto `canvas`, which is `times` the surface's size, with type and widgets of `times` their size.
  /// It gets no input. Between two frames.
  void draw_enlarged(float times, const render::Canvas& canvas, const std::function<void()>& widgets);

  /// The display's scale, or less in a small window.
  float display_scale() const;

  /// Makes type and widgets `times` as large as display_scale() has them, from the next frame on.
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
  float scale_;  // of the current style
  float magnified_ = 1;
  theme::Tone tone_ = theme::Tone::dark, styled_tone_ = theme::Tone::dark;  // wanted, and of the current style
  double seconds_to_layout_ = 0;
  LayoutPace pace_;
  std::optional<PanelPainter> painter_;  // made after the fonts
  std::optional<PanelPicture> picture_;  // none where a change of the render target costs more than letters
  std::array<double, 2> pointer_{};
  InputQueue events_;  // not delivered to ImGui yet
};

}  // namespace orrery
