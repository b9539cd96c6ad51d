#include "render/image.h"

#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "render/gl.h"

namespace orrery::render {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& cause) {
  throw std::runtime_error{"cannot write the picture " + path.string() + ": " + cause};
}

/// Leaves no half-written file behind.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path) : path_{std::move(path)} {}
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

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

void write_png(const std::filesystem::path& path, const Image& image) {
  const PartFile part{path.string() + ".part"};
  File file{std::fopen(part.path().c_str(), "wb")};
  if (!file) fail(path, std::strerror(errno));

  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_stdio(&header, file.get(), 0, image.rgb.data(), 0, nullptr)) fail(path, header.message);
  if (std::fclose(file.release()) != 0) fail(path, std::strerror(errno));

  std::error_code error;
  std::filesystem::rename(part.path(), path, error);
  if (error) fail(path, error.message());
}

}  // namespace orrery::render
