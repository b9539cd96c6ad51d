#include "app/film/video_frame.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace orrery {
namespace {

// BT.709 with luma from 16 to 235 and chroma from 16 to 240, in units of 2^-16.
constexpr double one = 65536, luma_range = 219.0 / 255, chroma_range = 224.0 / 255;
constexpr double red = 0.2126, green = 0.7152, blue = 0.0722;

constexpr std::int32_t fixed(double value) {
  return static_cast<std::int32_t>(value * one + (value < 0 ? -0.5 : 0.5));
}

struct Weights {
  std::int32_t r, g, b;
};
constexpr std::int32_t luma_red = fixed(luma_range * red), luma_green = fixed(luma_range * green),
                       luma_blue = fixed(luma_range * blue);
constexpr Weights luma{luma_red, luma_green, luma_blue};
// Green takes what the rounding of the others leaves, so that grey has no colour.
constexpr std::int32_t half = fixed(chroma_range / 2), red_in_blue = fixed(-chroma_range / 2 * red / (1 - blue)),
                       blue_in_red = fixed(-chroma_range / 2 * blue / (1 - red));
constexpr Weights blue_difference{red_in_blue, -red_in_blue - half, half};
constexpr Weights red_difference{half, -blue_in_red - half, blue_in_red};

using Pixel = std::uint32_t;  // red in the lowest byte

Pixel pixel(const std::uint8_t* row, int x) {
  Pixel pixel;
  std::memcpy(&pixel, row + 4 * static_cast<std::ptrdiff_t>(x), sizeof pixel);
  return pixel;
}

void write_luma(const std::uint8_t* __restrict row, int width, std::uint8_t* __restrict to) {
  for (int x = 0; x < width; ++x) {
    const Pixel p = pixel(row, x);
    const auto r = static_cast<std::int32_t>(p & 255), g = static_cast<std::int32_t>(p >> 8 & 255),
               b = static_cast<std::int32_t>(p >> 16 & 255);
    to[x] = static_cast<std::uint8_t>((luma.r * r + luma.g * g + luma.b * b + fixed(16.5)) >> 16);
  }
}

/// A sum of pixels: red and blue in 16 bits each, and green.
struct Sum {
  std::uint32_t red_blue, green;
};

/// Of a sum of eight pixels.
std::uint8_t chroma(const Weights& weights, Sum sum) {
  const auto r = static_cast<std::int32_t>(sum.red_blue & 0xffff), b = static_cast<std::int32_t>(sum.red_blue >> 16),
             g = static_cast<std::int32_t>(sum.green);
  return static_cast<std::uint8_t>((weights.r * r + weights.g * g + weights.b * b + 8 * fixed(128.5)) >> 19);
}

/// Players expect a colour at the place of the even columns, and between two rows.
void write_chroma(const std::uint8_t* __restrict upper, const std::uint8_t* __restrict lower, int width,
                  std::uint8_t* __restrict to_blue, std::uint8_t* __restrict to_red) {
  const auto write = [&](int x, int left, int right) {
    const auto column = [&](int at) {
      const Pixel a = pixel(upper, at), b = pixel(lower, at);
      return Sum{(a & 0xff00ff) + (b & 0xff00ff), (a >> 8 & 255) + (b >> 8 & 255)};
    };
    const Sum before = column(left), middle = column(2 * x), after = column(right);
    const Sum sum{before.red_blue + 2 * middle.red_blue + after.red_blue,
                  before.green + 2 * middle.green + after.green};
    to_blue[x] = chroma(blue_difference, sum);
    to_red[x] = chroma(red_difference, sum);
  };
  write(0, 0, std::min(1, width - 1));
  for (int x = 1; x < width / 2; ++x) write(x, 2 * x - 1, 2 * x + 1);
  if (width % 2 && width > 1) write(width / 2, width - 2, width - 1);
}

}  // namespace

void write_video_frame(std::span<const std::uint8_t> rgba, int width, int height, std::vector<std::uint8_t>& video) {
  const int columns = even_size(width), rows = even_size(height);
  const auto pixels = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  video.resize(pixels + pixels / 2);
  std::uint8_t* y = video.data();
  std::uint8_t* cb = y + pixels;
  std::uint8_t* cr = cb + pixels / 4;
  const auto row = [&](int from_top) {
    const int from_bottom = height - 1 - std::min(from_top, height - 1);
    return rgba.data() + 4 * static_cast<std::ptrdiff_t>(width) * from_bottom;
  };
  for (int i = 0; i < rows; ++i, y += columns) {
    write_luma(row(i), width, y);
    if (width % 2) y[width] = y[width - 1];
  }
  for (int i = 0; i < rows; i += 2, cb += columns / 2, cr += columns / 2) {
    write_chroma(row(i), row(i + 1), width, cb, cr);
  }
}

}  // namespace orrery
