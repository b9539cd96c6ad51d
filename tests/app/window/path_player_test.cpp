#include <gtest/gtest.h>

#include "app/window/camera_control.h"

namespace orrery {
namespace {

TEST(PathPlayer, MakesAPathOfViewsAndMovesACameraAlongIt) {
  render::OrbitCamera camera;
  camera.frame({1, 2, 3}, 4);
  PathPlayer player;
  EXPECT_EQ(player.add(camera, 5).time_s, 0);
  const render::OrbitCamera first = camera;
  camera.orbit({0.3f, 0.1f});
  camera.zoom(4);
  EXPECT_EQ(player.add(camera, 5).time_s, 5);
  const render::OrbitCamera second = camera;
  EXPECT_TRUE(player.unsaved());

  player.play(CameraPath{player.made()}, 100);
  const auto expect_same = [&](const render::OrbitCamera& wanted) {
    EXPECT_NEAR(camera.azimuth(), wanted.azimuth(), 1e-5);
    EXPECT_NEAR(camera.elevation(), wanted.elevation(), 1e-5);
    EXPECT_NEAR(camera.distance(), wanted.distance(), 1e-4);
    EXPECT_EQ(camera.target(), wanted.target());
  };
  player.follow(100, camera);
  expect_same(first);
  player.follow(102.5, camera);
  EXPECT_LT(camera.distance(), first.distance());
  EXPECT_GT(camera.distance(), second.distance());
  player.follow(105.5, camera);
  expect_same(second);
  camera.zoom(1);
  const float moved = camera.distance();
  player.follow(106, camera);
  EXPECT_EQ(camera.distance(), moved) << "the path has ended";
}

TEST(PathPlayer, StopsForTheUser) {
  render::OrbitCamera camera;
  PathPlayer player;
  player.add(camera, 1);
  camera.zoom(3);
  player.play(CameraPath{player.made()}, 0);
  player.stop();
  const float distance = camera.distance();
  player.follow(0.5, camera);
  EXPECT_EQ(camera.distance(), distance);
  player.clear();
  EXPECT_TRUE(player.made().empty());
  EXPECT_FALSE(player.unsaved());
}

}  // namespace
}  // namespace orrery
