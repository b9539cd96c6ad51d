// The values that colours show, of a lane in lockstep.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "app/window/colouring.h"
#include "app/window/lane.h"
#include "compute/diagnostics/structure.h"
#include "render/gl/gl.h"
#include "tests/compute/ranks/rank_team.h"
#include "tests/compute/support/backends.h"

namespace orrery {
namespace {

class BodyValuesTest : public testing::Test {
 protected:
  void show(std::string_view colour) { view_.appearance.colour_by = find_body_colour(colour).by; }

  Lane lane(const SceneRequest& scene) {
    const Sharing none{.reason = "not tried", .cure = "try"};
    return {rescue_, test::backends(), none, scene, nullptr, nullptr, true};
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
  EXPECT_NE(unknown.note.find("compared"), std::string::npos) << unknown.note;
  const Legend known = legend_for("acceleration");
  EXPECT_FALSE(known.colours.empty());
  EXPECT_TRUE(known.note.empty());
}

TEST_F(BodyValuesTest, TheLegendNamesTheOneSpeedOfBodiesAtRest) {
  std::ofstream{"at-rest.txt"} << "1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n";
  Lane shown = lane({.scene = {}, .file = "at-rest.txt"});
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
  test::RankTeam team{3};
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

}  // namespace
}  // namespace orrery
