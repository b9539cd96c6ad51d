#include "tests/render/picture.h"

#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace orrery::render::test {

Image read_png(const std::filesystem::path& path) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  Image image;
  if (png_image_begin_read_from_file(&header, path.c_str())) {
    header.format = PNG_FORMAT_RGB;
    image.width = static_cast<int>(header.width);
    image.height = static_cast<int>(header.height);
    image.rgb.resize(PNG_IMAGE_SIZE(header));
    if (png_image_finish_read(&header, nullptr, image.rgb.data(), 0, nullptr)) return image;
  }
  throw std::runtime_error{"cannot read " + path.string() + ": " + header.message};
}

Difference difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height || a.rgb.empty()) return {255.0, 1.0};
  double sum = 0;
  std::size_t off = 0;
  for (std::size_t pixel = 0; pixel < a.rgb.size(); pixel += 3) {
    int most = 0;
    for (std::size_t i = pixel; i < pixel + 3; ++i) {
      const int apart = std::abs(a.rgb[i] - b.rgb[i]);
      sum += apart;
      most = std::max(most, apart);
    }
    off += most > 24 ? 1 : 0;
  }
  const auto channels = static_cast<double>(a.rgb.size());
  return {sum / channels, 3.0 * static_cast<double>(off) / channels};
}

}  // namespace orrery::render::test
