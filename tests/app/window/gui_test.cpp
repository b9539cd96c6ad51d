// When the panels are laid out anew, and that they look the same if they are not.
#include "app/window/gui.h"

#include <glad/gl.h>
#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>

#include "app/window/window.h"
#include "render/image.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

TEST(LayoutPace, IsSlowerWhenNobodyUsesThePanels) {
  using std::chrono::milliseconds;
  const LayoutPace::Time start{};
  LayoutPace pace;
  EXPECT_TRUE(pace.due(start));
  pace.laid_out(start);
  EXPECT_FALSE(pace.due(start + milliseconds{99}));
  EXPECT_TRUE(pace.due(start + milliseconds{100}));
  pace.used(start);
  EXPECT_FALSE(pace.due(start + milliseconds{7}));
  EXPECT_TRUE(pace.due(start + milliseconds{8}));
  pace.laid_out(start + milliseconds{290});
  EXPECT_FALSE(pace.due(start + milliseconds{301})) << "used long ago";
  pace.forget();
  EXPECT_TRUE(pace.due(start + milliseconds{301}));
}

TEST(PanelPicture, CoversEachPixelOnce) {
  const auto text = [](std::vector<render::PixelRect> rects) {
    std::vector<std::array<int, 4>> all;
    for (const auto& [left, bottom, right, top] : merge_overlapping(std::move(rects))) {
      all.push_back({left, bottom, right, top});
    }
    std::ranges::sort(all);
    return all;
  };
  using Rects = std::vector<std::array<int, 4>>;
  EXPECT_EQ(text({}), Rects{});
  EXPECT_EQ(text({{0, 0, 4, 4}, {4, 0, 8, 4}}), (Rects{{0, 0, 4, 4}, {4, 0, 8, 4}})) << "neighbours stay apart";
  EXPECT_EQ(text({{0, 0, 4, 4}, {3, 3, 8, 4}}), (Rects{{0, 0, 8, 4}}));
  EXPECT_EQ(text({{5, 5, 5, 9}, {5, 5, 4, 9}}), Rects{}) << "nothing to cover";
  EXPECT_EQ(text({{0, 0, 2, 2}, {9, 9, 10, 10}, {8, 0, 10, 2}, {1, 1, 9, 2}}), (Rects{{0, 0, 10, 2}, {9, 9, 10, 10}}))
      << "one that joins two";
}

struct GuiTest : testing::Test {
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

TEST_F(GuiTest, APictureOfThePanelsLooksLikeThem) {
  for (int frame = 0; frame < 3; ++frame) lay_out();
  const render::Canvas canvas = surface_.canvas();
  const auto over_blue = [&](const std::function<void()>& draw) {
    glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
    constexpr float blue[4] = {0.1f, 0.2f, 0.9f, 1};
    glClearBufferfv(GL_COLOR, 0, blue);
    draw();
    return picture().rgb;
  };
  PanelPainter painter;
  PanelPicture panels;
  panels.take(*ImGui::GetDrawData(), painter, canvas.width, canvas.height);
  const auto nothing = over_blue([] {});
  const auto drawn = over_blue([&] { painter.draw(*ImGui::GetDrawData(), canvas.framebuffer); });
  EXPECT_NE(drawn, nothing);
  ASSERT_NE(canvas.texture, 0u);
  for (const unsigned texture : {canvas.texture, 0u}) {  // a window has none
    const auto laid_over = over_blue([&] { panels.draw({canvas.framebuffer, canvas.width, canvas.height, texture}); });
    ASSERT_EQ(drawn.size(), laid_over.size());
    int greatest = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i) greatest = std::max(greatest, std::abs(drawn[i] - laid_over[i]));
    EXPECT_LE(greatest, 2) << "of 255, since each layer is rounded to 8 bits; texture " << texture;
  }
}

TEST_F(GuiTest, PaintsAsTheRendererOfDearImGuiDoes) {
  for (int frame = 0; frame < 3; ++frame) {
    clear();
    lay_out();
  }
  const render::Image ours = picture();
  ASSERT_TRUE(ImGui_ImplOpenGL3_Init("#version 450 core"));
  ImGui_ImplOpenGL3_NewFrame();  // makes its texture of the letters
  clear();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  const render::Image theirs = picture();
  ImGui_ImplOpenGL3_Shutdown();
  ASSERT_EQ(ours.rgb.size(), theirs.rgb.size());
  int greatest = 0;
  for (std::size_t i = 0; i < ours.rgb.size(); ++i)
    greatest = std::max(greatest, std::abs(ours.rgb[i] - theirs.rgb[i]));
  EXPECT_LE(greatest, 1) << "of 255: the places of vertices are rounded in another order";
}

TEST_F(GuiTest, LaysOutTheFirstFrameAndLaterOnesIfTheyAreOld) {
  EXPECT_TRUE(gui_.needs_layout());
  EXPECT_TRUE(can_be_drawn_again());
  std::this_thread::sleep_for(std::chrono::milliseconds{101});
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
}  // namespace orrery::test
