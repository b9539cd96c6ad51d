#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::render {

/// 8 bits a channel, sRGB, top row first, 3 bytes a pixel without padding.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

/// What a framebuffer (0 is the window's back buffer) shows now; waits for the GPU.
Image read_framebuffer(unsigned framebuffer, int width, int height);

/// The bytes of a PNG file. Throws std::runtime_error.
std::string encode_png(const Image& image);

}  // namespace orrery::render
