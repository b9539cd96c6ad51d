#include <gtest/gtest.h>

#include "app/window/window.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

TEST(PictureSize, TakesWhatHasRoomAndCanBeDrawn) {
  render::GlInfo gl;
  gl.max_side = 4096;
  for (const WindowSize size : {WindowSize{320, 200}, WindowSize{4096, 4096}, WindowSize{320, 4096}}) {
    EXPECT_EQ(allowed_size(size, {320, 200}, gl), size);
  }
  for (const WindowSize size :
       {WindowSize{319, 200}, WindowSize{320, 199}, WindowSize{4097, 200}, WindowSize{320, 4097}}) {
    try {
      (void)allowed_size(size, {320, 200}, gl);
      ADD_FAILURE() << size.width << " x " << size.height;
    } catch (const UsageError& refused) {
      const std::string line = refused.what();
      for (const char* limit : {"320x200", "4096x4096"}) EXPECT_NE(line.find(limit), std::string::npos) << line;
    }
  }
}

TEST(PictureSize, PanelsGrowWithAPictureThatIsLargerThanADisplay) {
  for (const WindowSize size :
       {WindowSize{16, 16}, WindowSize{1280, 720}, WindowSize{1920, 1080}, WindowSize{3840, 900}}) {
    EXPECT_EQ(scale_of_picture(size), 1) << size.width;
  }
  EXPECT_EQ(scale_of_picture({3840, 2160}), 2);
  EXPECT_EQ(scale_of_picture({7680, 4320}), 4);
  EXPECT_EQ(scale_of_picture({2160, 3840}), 1.125f) << "the side that has less room counts";
}

TEST(PictureSize, LeastWindowFollowsTheScale) {
  EXPECT_EQ(least_window_at(1), least_window);
  EXPECT_EQ(least_window_at(2), (WindowSize{640, 400}));
  EXPECT_EQ(least_window_at(4), (WindowSize{1280, 800}));
}

}  // namespace
}  // namespace orrery
