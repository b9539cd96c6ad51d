// Images in memory and as PNG files, and the program's icon.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::render {

/// A picture: 8 bits per channel, sRGB, 3 bytes per pixel without padding, top row first.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

/// Reads the picture in a framebuffer (0 is the window's back buffer). Waits for the GPU.
Image read_framebuffer(unsigned framebuffer, int width, int height);

/// Returns the picture in `rgba`, as OpenGL reads it: bottom row first, 4 bytes per pixel, of which the fourth is
/// dropped.
Image upright_image(std::span<const std::uint8_t> rgba, int width, int height);

enum class Compression {
  strong,
  fast  ///< six times as fast; files are a third larger
};

/// Returns the bytes of a PNG file. `description`, in ASCII, is stored in its text chunk `orrery`; empty: none. Throws
/// std::runtime_error if the picture cannot be encoded.
std::string encode_png(const Image& image, std::string_view description = {},
                       Compression compression = Compression::strong);

/// Size and description in the header of a PNG file.
struct PngFacts {
  int width = 0, height = 0;
  std::string description{};  ///< see encode_png()
};

/// Reads the facts of a PNG file. Returns nothing if the file is not whole or a chunk's checksum does not match.
std::optional<PngFacts> read_png_facts(std::string_view bytes);

/// An icon: 8 bits per channel, sRGB with straight alpha, top row first.
struct Icon {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

/// Returns the program's icon in its sizes, from the files of assets/icon.
std::vector<Icon> icons();

}  // namespace orrery::render
