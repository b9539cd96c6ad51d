#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>

#include "app/panels/kit/theme.h"
#include "app/viewer/layout_pace.h"
#include "app/viewer/panel_picture.h"
#include "app/viewer/surface.h"

struct ImGuiContext;
struct ImGuiIO;

namespace orrery {

/// Dear ImGui on a surface. It has GLFW's events if there is a window, and no input otherwise.
class Gui {
 public:
  explicit Gui(const Surface& surface);
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;
  ~Gui();

  /// Whether widgets must be laid out anew for the next picture: when LayoutPace says so, a mouse button is held, or
  /// size, style or type have changed.
  bool needs_layout();

  /// Input and the frame's size; before any widget. `seconds` since the last call.
  void begin_frame(double seconds);
  /// Draws the widgets onto the surface. With ORRERY_UI_LAYOUT=FILE in the environment it also writes
  /// the places of the marked widgets to that file, a few times per second.
  void end_frame();
  /// Draws the widgets of the last end_frame() once more.
  void draw_again();

  /// Windows that fit their content have their size only in the frame after, and others make room for them.
  static constexpr int frames_to_settle = 3;

  /// Draws `widgets` onto `canvas`, which is `times` the surface's size, with type and widgets of `times` their size.
  /// It gets no input. Between two frames.
  void draw_enlarged(float times, const render::Canvas& canvas, const std::function<void()>& widgets);

  /// The display's scale, or less in a small window.
  float display_scale() const;

  /// Type and widgets are `times` as large as display_scale() has them, from the next frame on.
  void magnify(float times) { magnified_ = times; }

  /// From the next frame on.
  void set_theme(theme::Tone tone) { tone_ = tone; }

  const ImGuiIO& io() const;
  /// Whether the key belongs to a text that is being edited, or is the Esc that closes a list.
  bool takes(const KeyPress& press) const;

 private:
  struct KeyEvent {
    int key, scancode, action, modifiers;
  };

  bool input_waits();
  bool style_changed() const;
  void follow_style();
  void deliver_keys();
  void write_layout();

  const Surface& surface_;
  ImGuiContext* context_;
  float scale_;  // of the present style
  float magnified_ = 1;
  theme::Tone tone_ = theme::Tone::dark, styled_tone_ = theme::Tone::dark;  // wanted, and of the present style
  double seconds_to_layout_ = 0;
  LayoutPace pace_;
  std::optional<PanelPicture> picture_;  // none where a change of the render target costs more than letters
  std::array<double, 2> pointer_{};
  void (*window_keys_)(GLFWwindow*, int, int, int, int) = nullptr;  // the window's own callback
  std::deque<KeyEvent> keys_;                                       // not delivered to ImGui yet
};

}  // namespace orrery
