// The values that colours show, of a lane in lockstep.
#include <glm/glm.hpp>
#include <random>

#include "app/colours/body_colour.h"
#include "app/overlays/overlay_painter.h"
#include "app/panels/kit/theme.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/window/colouring.h"
#include "app/window/lane.h"
#include "compute/diagnostics/structure.h"
#include "render/colour_map.h"
#include "render/gl/gl.h"
#include "tests/app/support/test.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"
#include "tests/render/picture.h"
#include "tests/render/stage.h"

namespace orrery::test {
namespace {

struct BodyValuesTest : testing::Test {
  void show(std::string_view colour) { view_.appearance.colour_by = find_body_colour(colour).by; }

  Lane lane(const SceneRequest& scene) {
    const Sharing none{.reason = "not tried", .cure = "try"};
    return {rescue_, backends(), none, scene, nullptr, nullptr, true};
  }
  void frame(Lane& lane) {
    now_s_ += 1.0 / 60;
    lane.examine(now_s_, view_);
    lane.advance(++frame_);
    while (!lane.collect()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    lane.take_timings();
    lane.follow_colours(view_.appearance, {}, now_s_);
    view_.legend = {};
    lane.describe(view_.legend, view_.appearance);
  }
  static std::vector<float> drawn_values(const Lane& lane) {
    const render::DrawnBodies drawn = lane.drawn();
    std::vector<float> values(static_cast<std::size_t>(drawn.count));
    glGetNamedBufferSubData(drawn.values, 0, static_cast<GLsizeiptr>(values.size() * sizeof(float)), values.data());
    return values;
  }

  render::OffscreenContext context_;
  Rescue rescue_;
  ViewStatus view_;
  std::int64_t frame_ = 0;
  double now_s_ = 100;
};

TEST_F(BodyValuesTest, CostNothingWhileAnotherColourIsShown) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  for (const char* colour : {"speed", "mass", "none"}) {
    show(colour);
    frame(shown);
    EXPECT_EQ(shown.drawn().values, 0u);
    EXPECT_FALSE(shown.status().accelerations);
  }
  show("acceleration");
  view_.appearance.look = render::Look::density;
  frame(shown);
  EXPECT_EQ(shown.drawn().values, 0u);
}

TEST_F(BodyValuesTest, TheLegendHasNoEndsUntilTheyAreKnown) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  const auto legend_for = [&](std::string_view colour) {
    show(colour);
    for (int i = 0; i < 2; ++i) frame(shown);
    Legend legend = legend_of(view_.appearance, shown.ranges(), {});
    shown.describe(legend, view_.appearance);
    return legend;
  };
  EXPECT_FALSE(legend_for("time-step-class").colours.empty());
  const Legend unknown = legend_for("distance");
  EXPECT_TRUE(unknown.colours.empty()) << "or the ends were those of the time steps";
  EXPECT_TRUE(unknown.parts.empty());
  expect_holds(unknown.note, {"compared"});
  const Legend known = legend_for("acceleration");
  EXPECT_FALSE(known.colours.empty());
  EXPECT_TRUE(known.note.empty());
}

TEST_F(BodyValuesTest, TheLegendNamesTheOneSpeedOfBodiesAtRest) {
  const std::string file = testing::TempDir() + "bodies_at_rest.txt";
  std::ofstream{file} << "1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n";
  Lane shown = lane({.scene = {}, .file = file});
  shown.apply(SetPaused{true}, {});
  show("speed");
  frame(shown);
  Legend legend = legend_of(view_.appearance, shown.ranges(), {});
  shown.describe(legend, view_.appearance);
  EXPECT_TRUE(legend.colours.empty());
  ASSERT_EQ(legend.parts.size(), 1u);
  EXPECT_EQ(legend.parts[0].name, "all bodies: 0 length / time");
}

TEST_F(BodyValuesTest, AreTheAccelerationsOfTheDrawnBodies) {
  Lane shown = lane({.scene = "two-body"});
  show("acceleration");
  for (int i = 0; i < 3; ++i) frame(shown);
  const Bodies bodies = shown.simulation().bodies();
  const Vec4 &a = bodies.positions[0], &b = bodies.positions[1];
  const float distance_sq = (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y);
  const std::vector<float> values = drawn_values(shown);
  EXPECT_NEAR(values[0], 0.25f / distance_sq, 1e-4f);
  EXPECT_NEAR(values[1], 0.75f / distance_sq, 1e-4f);
  EXPECT_EQ(view_.legend.known, 1.0f);
  EXPECT_NEAR(shown.ranges().value.high, values[1], 0.1f);
}

TEST_F(BodyValuesTest, AreTheTimeStepsThatSuitAtThePresentDt) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  shown.apply(SetPaused{true}, {});
  show("time-step-class");
  for (const float dt : {0.01f, 0.03f}) {
    shown.apply(SetTimeStep{dt}, {});
    for (int i = 0; i < 2; ++i) frame(shown);
    EXPECT_EQ(view_.legend.known, 1.0f);
    for (const float value : drawn_values(shown)) {
      EXPECT_EQ(std::log2(value / dt), std::round(std::log2(value / dt))) << value;
    }
  }
}

TEST_F(BodyValuesTest, AreShownWhilePaused) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  shown.apply(SetPaused{true}, {});
  frame(shown);
  for (const char* colour : {"acceleration", "local-density", "force-error"}) {
    show(colour);
    frame(shown);
    EXPECT_EQ(view_.legend.known, 1.0f) << colour;
  }
  const auto probe = shown.status().force_probe;
  frame(shown);
  EXPECT_EQ(shown.status().force_probe->bodies, probe->bodies) << "each body is measured once";
  EXPECT_EQ(shown.status().step, 0);
}

TEST_F(BodyValuesTest, AreTheDensitiesOfTheDrawnBodies) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  show("local-density");
  for (int i = 0; i < 3; ++i) frame(shown);
  EXPECT_EQ(drawn_values(shown), local_densities(shown.simulation().bodies().positions, 1));
}

TEST_F(BodyValuesTest, AreThePartsOfTheScene) {
  Lane shown = lane({.scene = "collision", .count = 400});
  show("species");
  frame(shown);
  const std::vector<float> values = drawn_values(shown);
  EXPECT_EQ(values.front(), 0);
  EXPECT_EQ(values.back(), 1);
  ASSERT_EQ(view_.legend.parts.size(), 2u);
  EXPECT_EQ(view_.legend.parts[1].name, "galaxy 2");
  EXPECT_NE(view_.legend.parts[0].colour, view_.legend.parts[1].colour);
  shown.apply(LoadScene{{.scene = "plummer", .count = 400}}, {});
  frame(shown);
  EXPECT_EQ(std::ranges::max(drawn_values(shown)), 0);
  ASSERT_EQ(view_.legend.parts.size(), 1u);
}

TEST_F(BodyValuesTest, AreTheDomainsOfTheDrawnBodies) {
  RankTeam team{3};
  const Sharing none{.reason = "not tried", .cure = "try"};
  Lane shown{rescue_, team.backends(), none, {.scene = "collapse", .count = 6000}, nullptr, nullptr, true};
  show("domain");
  for (const char* kernel : {"cpu-simd", "cpu-tree"}) {
    SCOPED_TRACE(kernel);
    shown.apply(SelectKernel{kernel}, {});
    for (int i = 0; i < 20; ++i) {
      frame(shown);
      ASSERT_TRUE(shown.status().domains);
      ASSERT_EQ(shown.status().domains->step, shown.status().step);
      const std::vector<int>& owners = shown.status().domains->owners.of_body;
      ASSERT_EQ(drawn_values(shown), std::vector<float>(owners.begin(), owners.end()));
      ASSERT_EQ(std::set(owners.begin(), owners.end()), (std::set{0, 1, 2}));
    }
    EXPECT_EQ(view_.legend.known, 1.0f);
    ASSERT_EQ(view_.legend.parts.size(), 3u);
    EXPECT_EQ(view_.legend.parts[2].name, "rank 2");
  }
  shown.apply(SetPaused{true}, {});
  frame(shown);
  const auto domains = shown.status().domains;
  frame(shown);
  EXPECT_EQ(shown.status().domains, domains) << "they are read once";
  shown.apply(Restart{}, {});
  frame(shown);
  EXPECT_EQ(view_.legend.parts.size(), 3u) << "known before the first step";
  EXPECT_EQ(shown.status().step, 0);
}

TEST_F(BodyValuesTest, OneProcessIsOneDomain) {
  Lane shown = lane({.scene = "plummer", .count = 300});
  show("domain");
  frame(shown);
  EXPECT_EQ(drawn_values(shown), std::vector<float>(300, 0.0f));
  ASSERT_EQ(view_.legend.parts.size(), 1u);
  EXPECT_EQ(view_.legend.parts[0].name, "all bodies: one domain");
}

TEST_F(BodyValuesTest, AreTheErrorsOfThePresentKernelUntilAllAreMeasured) {
  Lane shown = lane({.scene = "plummer", .count = 9000});
  shown.apply(SelectKernel{"cpu-tree"}, {});
  show("force-error");
  frame(shown);
  const float first = view_.legend.known.value();
  EXPECT_GT(first, 0.1f);
  EXPECT_LT(first, 1);
  EXPECT_EQ(std::ranges::count_if(drawn_values(shown), [](float e) { return std::isnan(e); }),
            std::lround(9000 * (1 - first)));
  for (int i = 0; i < 5; ++i) frame(shown);
  EXPECT_EQ(view_.legend.known, 1.0f);
  const float of_tree = shown.ranges().value.high;
  shown.apply(SelectKernel{"cpu-simd"}, {});
  frame(shown);
  EXPECT_LT(view_.legend.known, 1.0f) << "the errors of the tree are forgotten";
  for (int i = 0; i < 5; ++i) frame(shown);
  EXPECT_LT(shown.ranges().value.high, 0.1f * of_tree);
}

// The automatic ranges of the colours, of bodies in a buffer.

struct ColouringTest : testing::Test {
  static constexpr int count = 1000;

  static render::ValueRanges up_to_one() {
    render::ValueRanges ranges;
    ranges.speed = {0, 1};
    return ranges;
  }
  /// A frame of bodies with speeds of up to `most`; returns the share of them above the range.
  double frame_of(float most) {
    std::vector<glm::vec4> bodies(2 * count);
    for (int i = 0; i < count; ++i) {
      bodies[static_cast<std::size_t>(count + i)].y = most * static_cast<float>(i + 1) / count;
    }
    buffer_.upload(std::as_bytes(std::span{bodies}));
    now_s_ += 1.0 / 60;
    colouring_.follow({.buffer = buffer_.id(), .count = count}, {}, {1, 0, 0}, true, now_s_);
    const float high = colouring_.ranges().speed.high;
    return static_cast<double>(std::count_if(bodies.begin() + count, bodies.end(),
                                             [&](const glm::vec4& velocity) { return velocity.y > high; })) /
           count;
  }

  render::OffscreenContext context_;
  render::Buffer buffer_{2 * count * sizeof(glm::vec4)};
  Colouring colouring_{true};
  double now_s_ = 100;
};

TEST_F(ColouringTest, FollowsSpeedsThatDoubleEveryFewFrames) {
  colouring_.restart(up_to_one());
  int since_measured = 0, measured = 0;
  for (int i = 0; i < 60; ++i) {
    const double above = frame_of(std::exp2(static_cast<float>(i) / 4));
    since_measured = above <= 0.1 ? 0 : since_measured + 1;
    measured += above <= 0.1 ? 1 : 0;
    EXPECT_LT(since_measured, 9) << i;  // 0.1 s are six frames; the first time is a little longer
  }
  EXPECT_GE(measured, 8);
}

TEST_F(ColouringTest, KeepsItsRangeWhileSpeedsAreSteady) {
  colouring_.restart(up_to_one());
  for (int i = 0; i < 30; ++i) frame_of(1);
  const render::ValueRange before = colouring_.ranges().speed;
  for (int i = 0; i < 240; ++i) {
    frame_of(1);
    EXPECT_NEAR(colouring_.ranges().speed.high, before.high, 0.02f) << "no flicker";
  }
}

// The values that shaders compute are those that the CPU computes for the legend.

class ComputedColours : public testing::TestWithParam<render::Drawing> {
 protected:
  static constexpr int count = 200;

  ComputedColours() {
    std::mt19937 engine{7};  // NOLINT(cert-msc51-cpp): the same bodies each time
    const auto number = [&] { return static_cast<float>(engine()) / 2147483648.0f - 1; };
    for (int i = 0; i < count; ++i) {
      positions_.push_back({number(), number(), number(), 0.1f + std::abs(number())});
      velocities_.push_back({number(), number(), number(), 0});
    }
    stage_.camera.frame({0, 0, 0}, 1.5f);
    stage_.camera.look_from(0.7f, 0.4f);
    stage_.appearance.drawing = GetParam();
  }

  std::vector<float> values_of(const BodyColour& colour) const {
    const auto plain = [](const glm::vec4& v) { return Vec4{v.x, v.y, v.z, v.w}; };
    const glm::vec3 sight = stage_.camera.sight();
    std::vector<float> values;
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      values.push_back(colour.computed.of(plain(positions_[i]), plain(velocities_[i]), {sight.x, sight.y, sight.z}));
    }
    return values;
  }
  render::Image picture_by(const render::ColourBy& by) {
    stage_.appearance.colour_by = &by;
    return stage_.picture(positions_, velocities_, 160, 90);
  }

  render::test::Stage stage_;
  std::vector<glm::vec4> positions_, velocities_;
};

TEST_P(ComputedColours, AreThoseOfTheSameValuesInABuffer) {
  for (const BodyColour* colour : body_colours()) {
    if (!colour->computed.of) continue;
    SCOPED_TRACE(colour->id);
    const std::vector<float> values = values_of(*colour);
    const auto [low, high] = std::ranges::minmax(values);
    ASSERT_LT(low, high);
    stage_.ranges.*colour->by->range = {low, high};
    stage_.ranges.mass.high = 1;  // or bodies would have other sizes
    stage_.ranges.value = stage_.ranges.*colour->by->range;
    stage_.values.clear();
    const render::Image computed = picture_by(*colour->by);
    stage_.values = values;
    const render::ColourBy given{.logarithmic = colour->by->logarithmic, .map = colour->by->map};
    EXPECT_TRUE(render::test::difference(picture_by(given), computed).small());
    std::ranges::reverse(stage_.values);
    EXPECT_FALSE(render::test::difference(picture_by(given), computed).small()) << "colours make a difference";
  }
}

INSTANTIATE_TEST_SUITE_P(Drawn, ComputedColours, testing::Values(render::Drawing::sprites, render::Drawing::splats),
                         [](const auto& info) {
                           return info.param == render::Drawing::sprites ? "BySprites" : "BySplats";
                         });

// The colours that the legend and the panels name are those of the picture.

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
    EXPECT_EQ(theme::runs[run].on_dark, packed(render::part_colours(render::Theme::dark)[run])) << run;
    EXPECT_EQ(theme::runs[run].on_light, packed(render::part_colours(render::Theme::light)[run])) << run;
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

struct LegendOfATree : testing::Test {
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
}  // namespace orrery::test
