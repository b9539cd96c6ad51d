// Overlays over the bodies: the widgets that ask for them, and what the window shows of them.
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

TEST_F(Panels, AskForOverlaysAndTheme) {
  click("section.appearance");
  EXPECT_EQ(only<ShowTrails>(click("trails.sample")).of, TrailsOf::sample);
  view.overlays.trails = {TrailsOf::sample, 2.5};
  const auto trails = only<ShowTrails>(click("trails.picked"));
  EXPECT_EQ(trails.of, TrailsOf::picked);
  EXPECT_EQ(trails.length, 2.5) << "it stays";
  EXPECT_EQ(only<ShowVectors>(click("vectors.accel.")).quantity, Vectors::acceleration);
  EXPECT_TRUE(only<ShowAxes>(click("axes")).on);
  EXPECT_EQ(only<SetTheme>(click("theme.light")).theme, render::Theme::light);
}

TEST_F(Panels, AskWhatTheCameraFollows) {
  view.parts = {"disc", "galaxy 1"};
  click("section.appearance");
  const auto picked = [this](const char* choice) { return only<Follow>(pick("follow", choice)); };
  EXPECT_EQ(picked("mass"), (Follow{Followed::mass, ""}));
  EXPECT_EQ(picked("cluster"), (Follow{Followed::cluster, ""}));
  EXPECT_EQ(picked("galaxy 1"), (Follow{Followed::part, "galaxy 1"}));
  view.picked = PickedBody{.number = 3};
  EXPECT_EQ(picked("body"), (Follow{Followed::body, ""}));
  view.picked.reset();
  view.followed = {Followed::part, "disc"};
  EXPECT_EQ(picked("off"), (Follow{Followed::nothing, ""}));
  EXPECT_NE(side_column_text().find("disc"), std::string::npos) << "what is followed";
  EXPECT_TRUE(pick("follow", "body").empty()) << "no body is picked";
}

TEST_F(Panels, AskForTheWalkAndALevelOfATree) {
  select(test::find_kernel("cpu-tree"));
  status.tree = TreeReport{.depth = 9, .phases = {}};
  settle();
  EXPECT_FALSE(seen("tree.level")) << "no cells are drawn";
  EXPECT_TRUE(only<ShowWalk>(click("tree.walk")).on);
  view.overlays.cells = {true, 2};
  settle();
  EXPECT_TRUE(seen("tree.level"));
  EXPECT_EQ(only<ShowTreeCells>(click("tree.cells")).level, 2) << "it stays";
  const Requests asked = click("tree.level");
  ASSERT_FALSE(asked.empty());
  const auto level = request<ShowTreeCells>(asked, 0);
  EXPECT_TRUE(level.on);
  EXPECT_NEAR(level.level, 4, 1) << "the middle of -1 to 9";
}

TEST_F(Panels, ShowTheScaleOfArrowsAndTheCells) {
  view.legend = {.quantity = "speed", .colours = {{1, 0, 0}, {0, 0, 1}}, .world_per_height = 3};
  settle();
  EXPECT_TRUE(seen("legend.scale"));
  EXPECT_FALSE(seen("legend.arrows") || seen("legend.cells") || seen("legend.trails"));
  view.legend.trail_length = 0.25f;
  view.legend.arrows.name = "velocity";
  view.legend.cells = {"level 5: 1,203 cells", {0, 1, 0}};
  settle();
  EXPECT_TRUE(seen("legend.cells"));
  EXPECT_NE(legend_text().find("trails: the last 0.25 of time"), std::string::npos) << legend_text();
  EXPECT_FALSE(seen("legend.arrows")) << "no arrow is drawn yet";
  view.legend.arrow_per_height = 20;
  settle();
  EXPECT_TRUE(seen("legend.arrows"));
}

TEST_F(Panels, NameTheColoursOfAWalk) {
  view.legend = {.quantity = "speed", .colours = {{1, 0, 0}, {0, 0, 1}}, .world_per_height = 3};
  settle();
  EXPECT_FALSE(seen("legend.walk.whole"));
  view.legend.walk = {{"whole", {0, 0, 1}}, {"leaf", {1, 0, 0}}};
  settle();
  EXPECT_TRUE(seen("legend.walk.whole") && seen("legend.walk.leaf"));
}

TEST_F(Panels, SayOfWhichStepTheTimesOfATreeAre) {
  select(test::find_kernel("cpu-tree"));
  const auto says = [this](const char* words) {
    state.times.until = 0;
    const std::string text = side_column_text();
    return text.find(words) != std::string::npos;
  };
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 5};
  status.tree = TreeReport{.depth = 9, .phases = {{"sort", 1.25}, {"walk", 3}}};
  EXPECT_TRUE(says("Tree 4.25 ms")) << side_column_text();
  EXPECT_TRUE(says("deepest level"));
  status.timing.steps = 4;
  EXPECT_TRUE(says("Tree, 1 of 4 steps 4.25 ms")) << side_column_text();
  status.tree->phases_age = 12;
  EXPECT_TRUE(says("Tree, 12 steps earlier 4.25 ms")) << side_column_text();
}

TEST_F(Panels, HoldTheTimesOfATreeWithThoseOfItsStep) {
  select(test::find_kernel("cpu-tree"));
  view.measured = 1;
  status.timing = {.steps = 1, .step_ms = 5};
  status.tree = TreeReport{.phases = {{"walk", 4.5}}};
  settle();
  status.timing.step_ms = 7;
  status.tree = TreeReport{.phases = {{"walk", 6.5}}};
  const std::string held = side_column_text();
  EXPECT_NE(held.find("Step 5.00 ms"), std::string::npos) << held;
  EXPECT_NE(held.find("Tree 4.50 ms"), std::string::npos) << held;
  for (int frame = 0; frame < 30; ++frame) settle();
  const std::string later = side_column_text();
  EXPECT_NE(later.find("Step 7.00 ms"), std::string::npos) << later;
  EXPECT_NE(later.find("Tree 6.50 ms"), std::string::npos) << later;
}

TEST_F(Panels, WriteLabelsOverThePicture) {
  frame();
  EXPECT_EQ(ImGui::GetBackgroundDrawList()->VtxBuffer.Size, 0);
  view.labels = {{.text = "x", .place = {0.75f, 0.5f}, .colour = {1, 0, 0}, .strong = true}};
  view.panel = false;
  frame();
  ASSERT_GT(ImGui::GetBackgroundDrawList()->VtxBuffer.Size, 0);
  const ImVec2 first = ImGui::GetBackgroundDrawList()->VtxBuffer[0].pos, display = ImGui::GetIO().DisplaySize;
  EXPECT_NEAR(first.x, 0.75f * display.x, 20);
  EXPECT_NEAR(first.y, 0.5f * display.y, 20);
}

TEST_F(Panels, CountTheWalkOfThePickedBody) {
  view.picked = PickedBody{.number = 3};
  settle();
  EXPECT_FALSE(seen("picked.walk"));
  view.picked->walk = {412, 96};
  settle();
  EXPECT_TRUE(seen("picked.walk"));
}

}  // namespace
}  // namespace orrery::test
