// The colours that the legend and the panels name are those of the picture.
#include "app/viewer/legend.h"

#include <gtest/gtest.h>

#include <array>

#include "app/overlays/tree_boxes.h"
#include "app/panels/sections.h"
#include "render/colour_map.h"
#include "render/gl/offscreen_context.h"

namespace orrery {
namespace {

TEST(Legend, PartsHaveTheColoursOfTheTheme) {
  for (const render::Theme theme : {render::Theme::dark, render::Theme::light}) {
    Legend legend;
    describe_parts(legend, {.names = {"disc", "bulge"}, .of_body = {}}, theme);
    ASSERT_EQ(legend.parts.size(), 2u);
    const glm::vec3 colour = render::part_colours(theme)[1];
    EXPECT_EQ(legend.parts[1].colour, (SrgbColour{colour.r, colour.g, colour.b}));
  }
}

TEST(Legend, RunsHaveTheColoursOfThePicture) {
  const auto packed = [](glm::vec3 colour) {
    return ImGui::ColorConvertFloat4ToU32({colour.r, colour.g, colour.b, 1});
  };
  for (const std::size_t run : {0, 1}) {
    EXPECT_EQ(run_colours[run].on_dark, packed(render::part_colours(render::Theme::dark)[run])) << run;
    EXPECT_EQ(run_colours[run].on_light, packed(render::part_colours(render::Theme::light)[run])) << run;
  }
}

class LegendOfATree : public testing::Test {
 protected:
  Legend of(TreeCells cells, const TreeBoxes::Wanted& wanted) {
    Status status;
    status.tree_cells = std::make_shared<const TreeCells>(std::move(cells));
    boxes_.follow(status, wanted);
    Legend legend;
    boxes_.describe(legend);
    return legend;
  }
  static TreeCells read(int level, int count) {
    TreeCells cells;
    cells.asked.level = level;
    cells.count = count;
    for (int i = 0; i < count; ++i) cells.cells.push_back({.center = {}, .half_size = 1, .level = std::max(level, i)});
    return cells;
  }

 private:
  render::OffscreenContext context_;
  TreeBoxes boxes_;
};

TEST_F(LegendOfATree, CountsItsCells) {
  EXPECT_EQ(of(read(5, 3), {.cells = true, .level = 5}).cells, "level 5: 3 cells");
  EXPECT_EQ(of(read(5, 1), {.cells = true, .level = 5}).cells, "level 5: 1 cell");
  EXPECT_EQ(of(read(5, 0), {.cells = true, .level = 5}).cells, "level 5: no cells");
  EXPECT_EQ(of(read(CellRequest::every_level, 3), {.cells = true}).cells, "levels 0 to 2: 3 cells");
  EXPECT_EQ(of(read(5, 3), {}).cells, "");
}

TEST_F(LegendOfATree, NamesTheColoursOfAWalk) {
  TreeCells cells = read(5, 3);
  EXPECT_TRUE(of(cells, {.cells = true, .level = 5}).walk.empty());
  cells.asked.walk_of = 7;
  cells.walk.emplace();
  const Legend dark = of(cells, {.walk_of = 7}), light = of(cells, {.walk_of = 7, .theme = render::Theme::light});
  ASSERT_EQ(dark.walk.size(), 2u);
  ASSERT_EQ(light.walk.size(), 2u);
  EXPECT_NE(dark.walk[0].colour, dark.walk[1].colour);
  EXPECT_NE(dark.walk[0].colour, light.walk[0].colour);
  EXPECT_TRUE(of(cells, {.walk_of = 8}).walk.empty()) << "of another body";
}

}  // namespace
}  // namespace orrery
