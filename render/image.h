// Images in memory and as PNG files, and the program's icon.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::render {

/// 8 bits per channel, sRGB, top row first, 3 bytes per pixel without padding.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

/// Reads a framebuffer (0 is the window's back buffer). Waits for the GPU.
Image read_framebuffer(unsigned framebuffer, int width, int height);

/// Returns the picture in `rgba`: 4 bytes per pixel, of which the fourth is dropped, bottom row first as OpenGL reads
/// it.
Image upright_image(std::span<const std::uint8_t> rgba, int width, int height);

enum class Compression {
  strong,
  fast  ///< six times as fast, a third larger
};

/// Returns the bytes of a PNG file. `description`, in ASCII, becomes its text chunk `orrery`; empty: none. Throws
/// std::runtime_error.
std::string encode_png(const Image& image, std::string_view description = {},
                       Compression compression = Compression::strong);

/// Size and description in the header of a PNG file.
struct PngFacts {
  int width = 0, height = 0;
  std::string description{};  ///< see encode_png()
};

/// Returns nothing if the bytes are not a whole PNG file, or the checksum of one of its chunks does not match.
std::optional<PngFacts> read_png_facts(std::string_view bytes);

/// 8 bits per channel, sRGB with straight alpha, top row first.
struct Icon {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

/// Returns the program's icon in its sizes, from the files of assets/icon.
std::vector<Icon> icons();

}  // namespace orrery::render
