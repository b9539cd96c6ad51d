#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "app/features/film/film_files.h"

namespace orrery {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Colour = std::array<double, 3>;

/// ITU-R BT.709 in limited range, in the standard's own terms: Y, Cb and Cr of a colour with parts from 0 to 255.
Colour video_of(const Colour& rgb) {
  const double y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  return {16 + 219 * y / 255, 128 + 224 * (rgb[2] - y) / 1.8556 / 255, 128 + 224 * (rgb[0] - y) / 1.5748 / 255};
}

/// A picture whose rows are given from the bottom.
struct Picture {
  int width, height;
  Bytes rgba = Bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);

  std::uint8_t* at(int x, int from_top) {
    x = std::clamp(x, 0, width - 1);
    from_top = std::min(from_top, height - 1);
    return rgba.data() + 4 * (static_cast<std::ptrdiff_t>(height - 1 - from_top) * width + x);
  }
};

Bytes converted(const Picture& picture) {
  Bytes video;
  write_video_frame(picture.rgba, picture.width, picture.height, video);
  return video;
}

void expect_near(std::uint8_t is, double wanted) {
  EXPECT_LE(std::abs(is - wanted), 0.52);
}

TEST(VideoFrame, IsTheStandardsFromTheTopRowOn) {
  std::mt19937 random{3};
  for (const auto& [width, height] : {std::pair{16, 8}, {1, 1}, {7, 5}, {6, 3}, {35, 2}}) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    Picture picture{width, height};
    for (std::uint8_t& byte : picture.rgba) byte = static_cast<std::uint8_t>(random() % 256);
    const Bytes video = converted(picture);
    const int columns = even_size(width), rows = even_size(height);
    ASSERT_EQ(video.size(), static_cast<std::size_t>(columns * rows * 3 / 2));
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        const std::uint8_t* p = picture.at(x, y);
        expect_near(video[static_cast<std::size_t>(y * columns + x)],
                    video_of({double(p[0]), double(p[1]), double(p[2])})[0]);
      }
    }
    for (int y = 0; y < rows; y += 2) {
      for (int x = 0; x < columns; x += 2) {
        Colour mean{};
        for (const int row : {y, y + 1}) {
          for (const auto& [column, weight] : {std::pair{x - 1, 0.125}, {x, 0.25}, {x + 1, 0.125}}) {
            for (std::size_t part = 0; part < 3; ++part) mean[part] += weight * picture.at(column, row)[part];
          }
        }
        const auto at = static_cast<std::size_t>(columns * rows + y / 2 * columns / 2 + x / 2);
        expect_near(video[at], video_of(mean)[1]);
        expect_near(video[at + static_cast<std::size_t>(columns * rows / 4)], video_of(mean)[2]);
      }
    }
  }
}

TEST(VideoFrame, HasTheWholeRangeAndGreyWithoutColour) {
  for (int grey = 0; grey < 256; ++grey) {
    Picture picture{2, 2};
    std::ranges::fill(picture.rgba, static_cast<std::uint8_t>(grey));
    const Bytes video = converted(picture);
    EXPECT_EQ(video[0], std::lround(16 + 219 * grey / 255.0)) << grey;
    EXPECT_EQ(video[4], 128) << grey;
    EXPECT_EQ(video[5], 128) << grey;
  }
  Picture blue{2, 2};
  for (std::size_t i = 2; i < blue.rgba.size(); i += 4) blue.rgba[i] = 255;
  EXPECT_EQ(converted(blue)[4], 240);
}

}  // namespace
}  // namespace orrery
