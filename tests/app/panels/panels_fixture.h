#pragma once

#include <gtest/gtest.h>
#include <imgui.h>

#include <functional>
#include <string>
#include <string_view>

#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"

namespace orrery::test {

/// The panels in a window of 1280 x 1400 without a renderer, driven by a mouse and a keyboard.
class Panels : public testing::Test {
 protected:
  Panels();
  ~Panels() override;

  /// Draws one frame and returns what it asked for.
  Requests frame();
  /// Moves the mouse to the middle of a marked widget.
  void point_at(std::string_view mark);
  /// Presses and releases the left button where the mouse is. Everything that was asked for meanwhile.
  Requests press();
  /// The same over the middle of a marked widget.
  Requests click(std::string_view mark);
  /// Two clicks in a row.
  Requests double_click(std::string_view mark);
  /// Enters text into the widget that has the focus, a character a frame, then Enter.
  Requests type(std::string_view content);
  /// Opens a combo and picks one of its entries.
  Requests pick(const std::string& combo, std::string_view entry);
  /// The words of the side column.
  std::string side_column_text();
  /// The words of the laboratory.
  std::string lab_text();
  std::string legend_text();
  std::string picked_text();
  /// The words of the line at the top, with the tooltip of its badge.
  std::string badge_text();

  void select(const KernelPtr& kernel);
  /// Another window, on a display of `scale` (1 = 96 dots per inch).
  void resize(float width, float height, float scale);
  /// Draws frames until windows that fit their content have found their size.
  void settle();
  /// Shows a part of the laboratory.
  void open_tab(const std::string& tab);

  Status status;
  ViewStatus view;
  PanelState state;

 private:
  std::string text_of(const std::function<void(Requests&)>& draw);
  std::string logged_text_of(const std::function<void(Requests&)>& draw);
  void pass(int frames, Requests& asked);
  ImGuiContext* context_;
  float scale_ = 0;
};

/// A row of the results, with 1000 bodies, gravity and leapfrog: as the fixture's status is.
Result tried(const std::string& kernel_id, const std::string& settings);

/// This request of `requests`, which must be an `Alternative`; a default one with a failure otherwise.
template <class Alternative>
Alternative request(const Requests& requests, std::size_t index) {
  EXPECT_LT(index, requests.size());
  if (index >= requests.size()) return {};
  const auto* found = command_if<Alternative>(requests[index]);
  EXPECT_NE(found, nullptr) << "another request than expected";
  return found ? *found : Alternative{};
}
/// The one request of `requests`.
template <class Alternative>
Alternative only(const Requests& requests) {
  EXPECT_EQ(requests.size(), 1u);
  return request<Alternative>(requests, 0);
}

inline bool seen(std::string_view mark) {
  return ui_marked(mark).x1 > 0;
}

}  // namespace orrery::test
