#include "app/ui_state/camera_path.h"

#include <numbers>

#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

constexpr double degree = std::numbers::pi / 180;

KeyFrame key_frame(double time_s, double azimuth, double distance = 1, double x = 0) {
  return {.time_s = time_s, .view = {.azimuth = azimuth, .elevation = 0, .distance = distance, .target = {x, 0, 0}}};
}

TEST(CameraPath, GoesThroughItsKeyFramesAndWaitsOutsideOfThem) {
  const CameraPath path{{key_frame(1, 0.1, 2), key_frame(2, 0.4, 5, 1), key_frame(4, 0.2, 3, -1)}};
  for (const KeyFrame& frame : path.key_frames()) {
    EXPECT_NEAR(path.at(frame.time_s).azimuth, frame.view.azimuth, 1e-12);
    EXPECT_NEAR(path.at(frame.time_s).distance, frame.view.distance, 1e-12);
    EXPECT_NEAR(path.at(frame.time_s).target.x, frame.view.target.x, 1e-12);
  }
  EXPECT_EQ(path.at(-5).distance, 2);
  EXPECT_EQ(path.at(0).azimuth, 0.1);
  EXPECT_EQ(path.at(1e9).distance, 3);
  EXPECT_EQ(path.end_s(), 4);
}

TEST(CameraPath, TwoKeyFramesAreJoinedAtConstantSpeed) {
  const CameraPath path{{key_frame(0, 0, 1), key_frame(2, 1, 4)}};
  EXPECT_NEAR(path.at(0.5).azimuth, 0.25, 1e-12);
  EXPECT_NEAR(path.at(1).distance, 2, 1e-12) << "by factors: half-way is the geometric mean";
}

TEST(CameraPath, IsSmoothAndLeavesNoRange) {
  const CameraPath path{
      {key_frame(0, 0, 1, 0), key_frame(1, 1, 9, 5), key_frame(1.5, 1.1, 9, 5), key_frame(4, 1.05, 0.5, -2)}};
  const double h = 1e-4;
  double before_slope = (path.at(h).target.x - path.at(0).target.x) / h;
  for (double t = h; t < 4 - h; t += h) {
    const CameraView now = path.at(t);
    EXPECT_GE(now.distance, 0.5 - 1e-12);
    EXPECT_LE(now.distance, 9 + 1e-9);
    EXPECT_LE(now.azimuth, 1.1 + 1e-12);
    if (t > 1 && t < 1.5) {
      EXPECT_NEAR(now.target.x, 5, 1e-9) << "equal key frames hold the camera still";
    }
    const double slope = (path.at(t + h).target.x - now.target.x) / h;
    ASSERT_LT(std::abs(slope - before_slope), 0.02) << "the speed jumps at " << t;
    before_slope = slope;
  }
}

TEST(CameraPath, AzimuthsGoTheShortWay) {
  const CameraPath path{{key_frame(0, 170 * degree), key_frame(1, -170 * degree), key_frame(2, -100 * degree)}};
  for (double t = 0; t <= 2; t += 0.01) {
    const double from_south = std::remainder(path.at(t).azimuth - std::numbers::pi, 2 * std::numbers::pi);
    EXPECT_LE(std::abs(from_south), 80.001 * degree) << t;
  }
  EXPECT_NEAR(std::remainder(path.at(0.5).azimuth - std::numbers::pi, 2 * std::numbers::pi), 0, 5 * degree);
}

TEST(CameraPath, OneKeyFrameHoldsTheCamera) {
  const CameraPath path{{key_frame(3, 0.5, 7)}};
  for (const double t : {0.0, 3.0, 9.0}) EXPECT_EQ(path.at(t).distance, 7);
}

TEST(CameraPath, RefusesTimesThatDoNotGrow) {
  EXPECT_THROW(CameraPath{{}}, UsageError);
  EXPECT_THROW((CameraPath{{key_frame(1, 0), key_frame(1, 0)}}), UsageError);
  EXPECT_THROW((CameraPath{{key_frame(1, 0), key_frame(NAN, 0)}}), UsageError);
}

using PathFile = InFolder;

TEST_F(PathFile, ReadsWhatItWrites) {
  const CameraPath path =
      parse_camera_path("# a comment\n\n 0 -63.5 34 5.25 0 0 0 # start\r\n4.5\t20 -10 3 .5 -0.5 1e2", "orbit.txt");
  ASSERT_EQ(path.key_frames().size(), 2u);
  const KeyFrame& last = path.key_frames().back();
  EXPECT_EQ(last.time_s, 4.5);
  EXPECT_NEAR(last.view.azimuth, 20 * degree, 1e-12);
  EXPECT_NEAR(last.view.elevation, -10 * degree, 1e-12);
  EXPECT_EQ(last.view.target.z, 100);
  const std::string text = camera_path_text(path.key_frames());
  const CameraPath again = parse_camera_path(text, "again");
  EXPECT_EQ(camera_path_text(again.key_frames()), text);
  EXPECT_NEAR(again.key_frames().front().view.azimuth, -63.5 * degree, 1e-8);
}

TEST_F(PathFile, RefusesBrokenLinesByTheirNumber) {
  const auto refused = [](const std::string& text, const std::string& place, const std::string& said) {
    expect_usage_error({place, said}, [&] { (void)parse_camera_path(text, "orbit.txt"); });
  };
  refused("", "orbit.txt:1: ", "no key frame");
  refused("# nothing\n", "orbit.txt:1: ", "TIME AZIMUTH ELEVATION DISTANCE X Y Z");
  refused("0 0 0 1 0 0 0\n1 0 0 1 0 0\n", "orbit.txt:2: ", "this line has 6");
  refused("0 0 0 1 0 0 0 0\n", "orbit.txt:1: ", "this line has 8");
  refused("0 0 0 1 0 0 0\n\n0 0 0 1 0 0 0\n", "orbit.txt:3: ", "TIME cannot be '0'");
  refused("-1 0 0 1 0 0 0\n", "orbit.txt:1: ", "TIME cannot be '-1'");
  refused("0 400 0 1 0 0 0\n", "orbit.txt:1: ", "from -360 to 360 degrees");
  refused("0 0 91 1 0 0 0\n", "orbit.txt:1: ", "ELEVATION");
  refused("0 0 0 0 0 0 0\n", "orbit.txt:1: ", "DISTANCE");
  refused("0 0 0 1 nan 0 0\n", "orbit.txt:1: ", "X cannot be 'nan'");
  refused("0 0 0 1 0 0 1e99\n", "orbit.txt:1: ", "Z");
  refused(std::string(5000, '7') + "\n", "orbit.txt:1: ", "1000 bytes");
  refused(std::string("PNG\0\1\2", 6), "orbit.txt:1: ", "7 numbers");
}

TEST_F(PathFile, NamesAFileThatCannotBeRead) {
  expect_runtime_error({"camera path", "none.txt", "No such file"}, [&] { (void)read_camera_path(path("none.txt")); });
  expect_runtime_error({"it is a folder"}, [&] { (void)read_camera_path(folder.path().string()); });
  write("a.txt", "0 1 2 3 4 5 6\n");
  EXPECT_EQ(read_camera_path(path("a.txt")).key_frames().size(), 1u);
}

}  // namespace
}  // namespace orrery::test
