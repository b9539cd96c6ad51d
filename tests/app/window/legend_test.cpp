// The colours that the legend and the panels name are those of the picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/glm.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/features/compare/compare_tab.h"
#include "app/overlays/overlay_painter.h"
#include "app/panels/shown_words.h"
#include "app/window/colouring.h"
#include "render/colour_map.h"
#include "render/gl/gl.h"

namespace orrery {
namespace {

TEST(Legend, PartsHaveTheColoursOfTheTheme) {
  for (const render::Theme theme : {render::Theme::dark, render::Theme::light}) {
    Legend legend;
    const Parts parts{.names = {"disc", "bulge"}, .of_body = {}};
    describe_parts(legend, find_body_colour("species").parts({}, parts), theme);
    ASSERT_EQ(legend.parts.size(), 2u);
    const glm::vec3 colour = render::part_colours(theme)[1];
    EXPECT_EQ(legend.parts[1].colour, (SrgbColour{colour.r, colour.g, colour.b}));
  }
}

TEST(Legend, NamesDomainsOrWhyTheyAreNotKnown) {
  const auto legend_for = [](const Domains* domains) {
    Status status;
    if (domains) status.domains = std::make_shared<const Domains>(*domains);
    Legend legend;
    describe_parts(legend, find_body_colour("domain").parts(status, {}), render::Theme::dark);
    return legend;
  };
  EXPECT_EQ(legend_for(nullptr).note, "not known yet");
  const Domains alone{}, unknown{.owners = {.why_unknown = "not known: why"}};
  ASSERT_EQ(legend_for(&alone).parts.size(), 1u);
  EXPECT_EQ(legend_for(&alone).parts[0].name, "all bodies: one domain");
  EXPECT_EQ(legend_for(&unknown).note, "not known: why");
  EXPECT_TRUE(legend_for(&unknown).parts.empty());
  Domains many{};
  for (int rank = 0; rank < 10; ++rank) many.owners.names.push_back("rank " + std::to_string(rank));
  const std::vector<LegendPart> parts = legend_for(&many).parts;
  ASSERT_EQ(parts.size(), 8u) << "one for each colour";
  EXPECT_EQ(parts[1].name, "rank 1, ...") << "rank 9 has this colour, too";
  EXPECT_EQ(parts[2].name, "rank 2");
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

TEST(Legend, NamesTheOnlyValueWithItsColour) {
  const Legend range{.quantity = "mass",
                     .low = 0.125f,
                     .high = 0.25f,
                     .colours = {{1, 0, 0}, {0, 0, 1}},
                     .unit = "mass",
                     .dimension = Dimension::mass};
  Legend legend = range;
  describe_only_value(legend, "all", 0.25f, {});
  ASSERT_EQ(legend.parts.size(), 1u);
  EXPECT_EQ(legend.parts[0].name, "all bodies: 0.25 mass");
  EXPECT_EQ(legend.parts[0].colour, (SrgbColour{0, 0, 1}));
  EXPECT_TRUE(legend.colours.empty()) << "no range";
  legend = range;
  describe_only_value(legend, "all", 0.25f, gravity_units(kpc_cm, 1e3 * solar_mass_g));
  EXPECT_EQ(legend.parts[0].name, "all bodies: 250 Msun");
  for (const bool logarithmic : {false, true}) {
    legend = range;
    legend.logarithmic = logarithmic;
    describe_only_value(legend, "sampled", 0, {});
    EXPECT_EQ(legend.parts[0].name, "sampled bodies: 0 mass");
    EXPECT_EQ(legend.parts[0].colour, (SrgbColour{1, 0, 0})) << "below the range";
  }
}

TEST(Legend, ShowsItsEndsInOneUnitOfTheFile) {
  const Units units = parse_units("units", "kpc,1e10Msun,km/s");
  render::ValueRanges ranges;
  ranges.speed = {2, 300};
  const Legend legend = legend_of({}, ranges, {});
  EXPECT_EQ(shown_range({}, legend).unit, "length / time");
  EXPECT_NEAR(shown_range(units, legend).high, 300, 1e-3);
  EXPECT_EQ(shown_range(units, legend).unit, "km/s");
  for (const auto& [colour, unit] :
       {std::pair{"mass", "Msun"}, std::pair{"acceleration", "km/s/Gyr"}, std::pair{"local-density", "Msun/pc\u00b3"},
        std::pair{"distance", "kpc"}, std::pair{"time-step-class", "Gyr"}, std::pair{"force-error", "relative"}}) {
    EXPECT_EQ(shown_range(units, legend_of({.colour_by = find_body_colour(colour).by}, {}, {})).unit, unit);
  }
  EXPECT_EQ(shown_range(units, legend_of({.look = render::Look::density}, {}, {})).unit, "Msun/pc\u00b2");
}

TEST(Legend, OfTimeStepClassesHasAFieldForEach) {
  const render::Appearance appearance{.colour_by = find_body_colour("time-step-class").by};
  const float dt = 0.01f;
  const auto legend_for = [&](float low, float high) {
    render::ValueRanges ranges;
    ranges.value = {low, high};
    Legend legend = legend_of(appearance, ranges, {});
    describe_classes(legend, appearance, ranges, dt);
    return legend;
  };
  const Legend blocks = legend_for(dt / 256, dt);
  EXPECT_EQ(blocks.colours.size(), 9u) << "levels 0 to 8";
  EXPECT_EQ(blocks.low_class, "dt / 256");
  EXPECT_EQ(blocks.high_class, "dt");
  EXPECT_EQ(blocks.colours.front(), legend_of(appearance, {}, {}).colours.front());
  EXPECT_EQ(blocks.colours.back(), legend_of(appearance, {}, {}).colours.back());
  const Legend shrinking = legend_for(0.3f * dt, 4.5f * dt);
  EXPECT_EQ(shrinking.colours.size(), 4u) << "dt / 2 to 4 dt";
  EXPECT_EQ(shrinking.low, dt / 2);
  EXPECT_EQ(shrinking.high_class, "4 dt");
}

/// CIE L*a*b* under daylight, of which 2 is just visible.
glm::vec3 lab_of(glm::vec3 linear) {
  const glm::mat3 to_xyz = glm::transpose(glm::mat3{0.4124f, 0.3576f, 0.1805f,  //
                                                    0.2126f, 0.7152f, 0.0722f,  //
                                                    0.0193f, 0.1192f, 0.9505f});
  const glm::vec3 xyz = to_xyz * linear / glm::vec3{0.9505f, 1, 1.089f};
  const auto f = [](float t) { return t > 0.008856f ? std::cbrt(t) : 7.787f * t + 16.0f / 116; };
  return {116 * f(xyz.y) - 16, 500 * (f(xyz.x) - f(xyz.y)), 200 * (f(xyz.y) - f(xyz.z))};
}

/// How far apart two colours are, for an eye that sees all of them or, if that is less, one without cones for green
/// (Vienot, Brettel and Mollon 1999).
float apart(SrgbColour a, SrgbColour b) {
  const glm::mat3 without_green = glm::transpose(glm::mat3{0.29275f, 0.70725f, 0,  //
                                                           0.29275f, 0.70725f, 0,  //
                                                           -0.02234f, 0.02234f, 1});
  const auto linear = [](SrgbColour c) { return render::linear_from_srgb({c[0], c[1], c[2]}); };
  const auto distance = [&](const glm::mat3& eye) {
    return glm::distance(lab_of(glm::max(eye * linear(a), 0.0f)), lab_of(glm::max(eye * linear(b), 0.0f)));
  };
  return std::min(distance(glm::mat3{1}), distance(without_green));
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
  EXPECT_EQ(of(read(5, 3), {.cells = true, .level = 5}).cells.name, "level 5: 3 cells");
  EXPECT_EQ(of(read(5, 1), {.cells = true, .level = 5}).cells.name, "level 5: 1 cell");
  EXPECT_EQ(of(read(5, 0), {.cells = true, .level = 5}).cells.name, "level 5: no cells");
  EXPECT_EQ(of(read(CellRequest::every_level, 3), {.cells = true}).cells.name, "levels 0 to 2: 3 cells");
  EXPECT_EQ(of(read(5, 3), {}).cells.name, "");
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

TEST_F(LegendOfATree, CellsAndAWalkAreEasyToTellApart) {
  for (const render::Theme theme : {render::Theme::dark, render::Theme::light}) {
    TreeCells cells = read(CellRequest::every_level, 3);
    cells.asked.walk_of = 7;
    cells.walk.emplace();
    const Legend legend = of(cells, {.cells = true, .walk_of = 7, .theme = theme});
    ASSERT_EQ(legend.walk.size(), 2u);
    EXPECT_GT(apart(legend.walk[0].colour, legend.walk[1].colour), 25);
    for (const float depth : {0.0f, 0.5f, 1.0f}) {
      const glm::vec3 colour = TreeBoxes::cell_colour(depth, theme);
      for (const LegendPart& met : legend.walk) {
        EXPECT_GT(apart({colour.r, colour.g, colour.b}, met.colour), 40) << met.name << " and cells at " << depth;
      }
    }
  }
}

}  // namespace
}  // namespace orrery
