// When the panels are laid out anew, and that they look the same if they are not.
#include "app/viewer/gui.h"

#include <glad/gl.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <chrono>
#include <thread>

#include "app/viewer/offscreen_surface.h"
#include "render/image.h"

namespace orrery {
namespace {

TEST(LayoutPace, IsSlowerWhenNobodyUsesThePanels) {
  using std::chrono::milliseconds;
  const LayoutPace::Time start{};
  LayoutPace pace;
  EXPECT_TRUE(pace.due(start));
  pace.laid_out(start);
  EXPECT_FALSE(pace.due(start + milliseconds{49}));
  EXPECT_TRUE(pace.due(start + milliseconds{50}));
  pace.used(start);
  EXPECT_FALSE(pace.due(start + milliseconds{7}));
  EXPECT_TRUE(pace.due(start + milliseconds{8}));
  pace.laid_out(start + milliseconds{290});
  EXPECT_FALSE(pace.due(start + milliseconds{301})) << "used long ago";
  pace.forget();
  EXPECT_TRUE(pace.due(start + milliseconds{301}));
}

class GuiTest : public testing::Test {
 protected:
  void lay_out() {
    gui_.begin_frame(0.01);
    ImGui::SetNextWindowPos({10, 10});
    ImGui::Begin("a panel");
    ImGui::Text("a line of text");
    ImGui::End();
    gui_.end_frame();
  }

  /// Whether some layout can be drawn again right after it: a machine may stop for longer than a layout lasts.
  bool can_be_drawn_again() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      lay_out();
      if (!gui_.needs_layout()) return true;
    }
    return false;
  }

  render::Image picture() const {
    const render::Canvas canvas = surface_.canvas();
    return render::read_framebuffer(canvas.framebuffer, canvas.width, canvas.height);
  }

  void clear() const {
    glBindFramebuffer(GL_FRAMEBUFFER, surface_.canvas().framebuffer);
    glClear(GL_COLOR_BUFFER_BIT);
  }

  OffscreenSurface surface_{{320, 200}, false};
  Gui gui_{surface_};
};

TEST_F(GuiTest, DrawsTheSameAgain) {
  for (int frame = 0; frame < 3; ++frame) {  // a new window is shown in its second frame
    clear();
    lay_out();
  }
  const render::Image first = picture();
  clear();
  const render::Image empty = picture();
  gui_.draw_again();
  EXPECT_EQ(picture().rgb, first.rgb);
  EXPECT_NE(empty.rgb, first.rgb);
}

TEST_F(GuiTest, LaysOutTheFirstFrameAndLaterOnesIfTheyAreOld) {
  EXPECT_TRUE(gui_.needs_layout());
  EXPECT_TRUE(can_be_drawn_again());
  std::this_thread::sleep_for(std::chrono::milliseconds{51});
  EXPECT_TRUE(gui_.needs_layout());
}

TEST_F(GuiTest, LaysOutAnewForAnotherStyle) {
  ASSERT_TRUE(can_be_drawn_again());
  gui_.magnify(2);
  EXPECT_TRUE(gui_.needs_layout());
  ASSERT_TRUE(can_be_drawn_again());
  gui_.set_theme(theme::Tone::light);
  EXPECT_TRUE(gui_.needs_layout());
}

TEST_F(GuiTest, LaysOutAnewAfterAnEnlargedPicture) {
  ASSERT_TRUE(can_be_drawn_again());
  gui_.draw_enlarged(2, surface_.canvas(), [] {});
  EXPECT_TRUE(gui_.needs_layout());
}

}  // namespace
}  // namespace orrery
