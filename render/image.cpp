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

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const fs::path& path, const std::string& cause) {
  throw std::runtime_error{"cannot write the picture " + path.string() + ": " + cause};
}

void write_to(std::FILE* file, const fs::path& path, const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_stdio(&header, file, 0, image.rgb.data(), 0, nullptr)) fail(path, header.message);
  if (std::fflush(file) != 0) fail(path, std::strerror(errno));
}

/// A new file beside `target`, removed at the end unless it has taken the target's name. Other files are left alone.
class Sibling {
 public:
  explicit Sibling(const fs::path& target) {
    for (int number = 0; !file_; ++number) {
      path_ = target.string() + ".part-" + std::to_string(number);
      file_.reset(std::fopen(path_.c_str(), "wbx"));
      if (!file_ && errno != EEXIST) fail(target, std::strerror(errno));
    }
  }
  Sibling(const Sibling&) = delete;
  Sibling& operator=(const Sibling&) = delete;
  ~Sibling() {
    std::error_code ignored;
    if (!renamed_) fs::remove(path_, ignored);
  }

  std::FILE* file() const noexcept { return file_.get(); }
  void rename_to(const fs::path& target) {
    if (std::fclose(file_.release()) != 0) fail(target, std::strerror(errno));
    std::error_code error;
    fs::rename(path_, target, error);
    if (error) fail(target, error.message());
    renamed_ = true;
  }

 private:
  fs::path path_;
  File file_;
  bool renamed_ = false;
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

void write_png(const fs::path& path, const Image& image) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // a device or a pipe: no file to put in its place
    const File file{std::fopen(path.c_str(), "wb")};
    if (!file) fail(path, std::strerror(errno));
    write_to(file.get(), path, image);
    return;
  }
  fs::path target = path;
  if (fs::is_symlink(fs::symlink_status(path, error))) {  // a link stays a link
    target = fs::weakly_canonical(path, error);
    if (error) fail(path, error.message());
  }
  Sibling sibling{target};
  write_to(sibling.file(), path, image);
  sibling.rename_to(target);
}

}  // namespace orrery::render
