#include "render/image.h"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "render/gl/gl.h"

namespace orrery {

std::span<const std::pair<std::string_view, std::string_view>> embedded_icons();

namespace render {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

struct Free {
  void operator()(char* memory) const noexcept { std::free(memory); }
};

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// Returns a text chunk of a PNG file: its length, its type and content, and their checksum.
std::string text_chunk(std::string_view text) {
  std::string body{"tEXtorrery"};
  body += '\0';
  body += text;
  const auto* bytes = reinterpret_cast<const Bytef*>(body.data());
  const auto checksum = static_cast<std::uint32_t>(crc32(0, bytes, static_cast<uInt>(body.size())));
  return big_endian(static_cast<std::uint32_t>(body.size() - 4)) + body + big_endian(checksum);
}

std::uint32_t big_endian_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

constexpr std::string_view png_signature{"\x89PNG\r\n\x1a\n", 8}, text_key{"orrery\0", 7};
constexpr std::size_t least_chunk_bytes = 12;  // length, type and checksum

}  // namespace

Image read_framebuffer(unsigned framebuffer, int width, int height) {
  Image image{width, height,
              std::vector<std::uint8_t>(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height))};
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
  glNamedFramebufferReadBuffer(framebuffer, framebuffer == 0 ? GL_BACK : GL_COLOR_ATTACHMENT0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, image.rgb.data());
  const std::ptrdiff_t row_bytes = 3 * static_cast<std::ptrdiff_t>(width);
  for (int bottom = 0, top = height - 1; bottom < top; ++bottom, --top) {
    const auto row = image.rgb.begin() + bottom * row_bytes;
    std::swap_ranges(row, row + row_bytes, image.rgb.begin() + top * row_bytes);
  }
  return image;
}

Image upright_image(std::span<const std::uint8_t> rgba, int width, int height) {
  const auto columns = static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
  if (rgba.size() != 4 * columns * rows) throw std::logic_error{"the picture has another size"};
  Image image{width, height, std::vector<std::uint8_t>(3 * columns * rows)};
  std::uint8_t* to = image.rgb.data();
  for (std::size_t row = rows; row-- > 0;) {
    const std::uint8_t* from = rgba.data() + 4 * columns * row;
    for (std::size_t column = 0; column < columns; ++column, to += 3, from += 4) {
      to[0] = from[0];
      to[1] = from[1];
      to[2] = from[2];
    }
  }
  return image;
}

std::string encode_png(const Image& image, std::string_view description, Compression compression) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::unique_ptr<std::FILE, CloseFile> file{open_memstream(&bytes, &size)};
  if (!file) throw std::bad_alloc{};
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  if (compression == Compression::fast) header.flags = PNG_IMAGE_FLAG_FAST;
  const bool encoded = png_image_write_to_stdio(&header, file.get(), 0, image.rgb.data(), 0, nullptr) != 0;
  file.reset();
  const std::unique_ptr<char, Free> owner{bytes};
  if (!encoded) throw std::runtime_error{std::string{"cannot encode the picture: "} + header.message};
  std::string png{bytes, size};
  constexpr std::size_t header_end = 8 + 25;  // the signature and the first chunk
  if (!description.empty()) png.insert(header_end, text_chunk(description));
  return png;
}

std::optional<PngFacts> read_png_facts(std::string_view bytes) {
  if (!bytes.starts_with(png_signature)) return std::nullopt;
  bytes.remove_prefix(png_signature.size());
  PngFacts facts;
  bool has_header = false;
  while (bytes.size() >= least_chunk_bytes) {
    const std::size_t size = big_endian_at(bytes, 0);
    if (size > bytes.size() - least_chunk_bytes) return std::nullopt;
    const std::string_view type = bytes.substr(4, 4), content = bytes.substr(8, size);
    const auto* summed = reinterpret_cast<const Bytef*>(type.data());
    if (crc32_z(0, summed, 4 + size) != big_endian_at(bytes, 8 + size)) return std::nullopt;
    if (type == "IHDR" && size == 13) {
      facts.width = static_cast<int>(big_endian_at(content, 0));
      facts.height = static_cast<int>(big_endian_at(content, 4));
      has_header = true;
    }
    if (type == "tEXt" && content.starts_with(text_key)) facts.description = content.substr(text_key.size());
    bytes.remove_prefix(least_chunk_bytes + size);
    if (type == "IEND") return has_header && bytes.empty() ? std::optional{facts} : std::nullopt;
  }
  return std::nullopt;
}

std::vector<Icon> icons() {
  std::vector<Icon> icons;
  for (const auto& [name, bytes] : embedded_icons()) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    bool decoded = png_image_begin_read_from_memory(&header, bytes.data(), bytes.size()) != 0;
    header.format = PNG_FORMAT_RGBA;
    Icon icon{static_cast<int>(header.width), static_cast<int>(header.height), {}};
    icon.rgba.resize(PNG_IMAGE_SIZE(header));
    decoded = decoded && png_image_finish_read(&header, nullptr, icon.rgba.data(), 0, nullptr) != 0;
    if (!decoded) throw std::runtime_error{std::string{name} + ": " + header.message};
    icons.push_back(std::move(icon));
  }
  return icons;
}

}  // namespace render
}  // namespace orrery
