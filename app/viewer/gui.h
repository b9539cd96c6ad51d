#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "app/panels/kit/theme.h"
#include "app/viewer/input_queue.h"
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

  /// The pointer and the frame's size; before any widget. `seconds` since the last call.
  void begin_frame(double seconds);

  /// Whether keys, characters or mouse buttons wait. Layouts before the next picture deliver them, a part each.
  bool has_events() const { return !events_.empty(); }
  /// As begin_frame(), with the next part of the events. Returns its presses that no text field takes, in order.
  std::vector<KeyPress> begin_frame_with_events(double seconds);
  /// Ends a layout that is not drawn.
  void end_unseen_frame();

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

 private:
  void listen(GLFWwindow* window);
  void begin(double seconds, const std::vector<InputEvent>& part);
  bool pointer_is_used();
  bool style_changed() const;
  void follow_style();
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
  InputQueue events_;  // not delivered to ImGui yet
};

}  // namespace orrery
