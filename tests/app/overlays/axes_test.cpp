#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/overlays/overlay_lines.h"

namespace orrery {
namespace {

Axes axes_at(float radius, float zoom = 0, glm::vec3 centre = {0, 0, 0}) {
  render::OrbitCamera camera;
  camera.frame(centre, radius);
  camera.zoom(zoom);
  return axes_of(centre, radius, camera, 1280, 720, render::Theme::dark);
}

bool has_label(const Axes& axes, const std::string& text) {
  return std::ranges::count(axes.labels, text, &PictureLabel::text) > 0;
}

TEST(Axes, HaveNamesAndRoundLengths) {
  for (const float radius : {0.03f, 1.0f, 7.0f, 2e5f}) {
    const Axes axes = axes_at(radius);
    for (const char* name : {"x", "y", "z"}) EXPECT_TRUE(has_label(axes, name)) << radius;
    const double decade = std::pow(10, std::floor(std::log10(axes.tick * 1.0001)));
    const double factor = axes.tick / decade;
    EXPECT_TRUE(std::abs(factor - 1) < 1e-9 || std::abs(factor - 2) < 1e-9 || std::abs(factor - 5) < 1e-9) << factor;
    EXPECT_LT(axes.tick, radius);
    EXPECT_GT(axes.tick, 0.05 * radius);
    for (const PictureLabel& label : axes.labels) {
      EXPECT_GT(label.place[0], 0);
      EXPECT_LT(label.place[0], 1);
    }
  }
}

TEST(Axes, StandInTheMiddleOfTheSceneAndReachItsEdge) {
  const glm::vec3 centre{10, -20, 30};
  const Axes axes = axes_at(4, 0, centre);
  EXPECT_EQ(axes.lines.front().from.place, centre);
  float farthest = 0;
  for (const render::DrawnLine& line : axes.lines) farthest = std::max(farthest, glm::distance(line.to.place, centre));
  EXPECT_GT(farthest, 3);
  EXPECT_LT(farthest, 6);
}

TEST(Axes, HaveFinerTicksNearerAndNeverTooMany) {
  EXPECT_LT(axes_at(1, 20).tick, axes_at(1).tick);
  EXPECT_GT(axes_at(1, -20).tick, axes_at(1).tick);
  for (const float zoom : {-60.0f, 0.0f, 60.0f}) EXPECT_LT(axes_at(1, zoom).lines.size(), 50u);
}

TEST(Axes, SeenFromTheirEndHaveNoTicks) {
  render::OrbitCamera camera;
  camera.frame({0, 0, 0}, 1);
  const auto lines = [&](float azimuth) {
    camera.look_from(azimuth, 0);
    return axes_of({0, 0, 0}, 1, camera, 720, 720, render::Theme::dark).lines.size();
  };
  EXPECT_LT(lines(0), lines(0.7f));
}

}  // namespace
}  // namespace orrery
