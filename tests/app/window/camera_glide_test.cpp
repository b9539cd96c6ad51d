#include <gtest/gtest.h>

#include "app/window/camera_control.h"

namespace orrery {
namespace {

render::OrbitCamera at(float x) {
  render::OrbitCamera camera;
  camera.place({x, 0, 0}, 0, 0, 1);
  return camera;
}

TEST(CameraGlide, GoesFromTheOldViewToTheNewOneAndStays) {
  CameraGlide glide;
  EXPECT_EQ(glide.shown(at(5), 10).target().x, 5);
  glide.start(at(5), 10);
  EXPECT_EQ(glide.shown(at(7), 10).target().x, 5);
  EXPECT_FLOAT_EQ(glide.shown(at(7), 10 + CameraGlide::duration_s / 2).target().x, 6);
  EXPECT_EQ(glide.shown(at(7), 10 + CameraGlide::duration_s).target().x, 7);
  EXPECT_EQ(glide.shown(at(9), 10.001).target().x, 9) << "it has ended";
}

TEST(CameraGlide, AnotherJumpBeginsWhereThePictureIs) {
  CameraGlide glide;
  glide.start(at(0), 0);
  glide.start(at(2), CameraGlide::duration_s / 2);
  EXPECT_FLOAT_EQ(glide.shown(at(-3), CameraGlide::duration_s / 2).target().x, 1);
}

}  // namespace
}  // namespace orrery
