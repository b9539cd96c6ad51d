#pragma once

#include <cstdint>
#include <filesystem>
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

/// Replaces the file as a whole or not at all; a link stays a link, and a device or pipe is written as it is. Throws
/// std::runtime_error that names the path and the cause.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace orrery::render
