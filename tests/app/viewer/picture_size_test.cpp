#include "app/viewer/picture_size.h"

#include <gtest/gtest.h>

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

TEST(PictureSize, LeastWindowFollowsTheScale) {
  EXPECT_EQ(least_window_at(1), least_window);
  EXPECT_EQ(least_window_at(2), (WindowSize{640, 400}));
  EXPECT_EQ(least_window_at(4), (WindowSize{1280, 800}));
}

}  // namespace
}  // namespace orrery
