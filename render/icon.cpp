#include "render/icon.h"

#include <png.h>

#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "render/gl/embedded.h"

namespace orrery::render {

std::span<const EmbeddedFile> embedded_icons();

std::vector<Icon> icons() {
  std::vector<Icon> icons;
  for (const EmbeddedFile& file : embedded_icons()) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    bool decoded = png_image_begin_read_from_memory(&header, file.bytes.data(), file.bytes.size()) != 0;
    header.format = PNG_FORMAT_RGBA;
    Icon icon{static_cast<int>(header.width), static_cast<int>(header.height), {}};
    icon.rgba.resize(PNG_IMAGE_SIZE(header));
    decoded = decoded && png_image_finish_read(&header, nullptr, icon.rgba.data(), 0, nullptr) != 0;
    if (!decoded) throw std::runtime_error{std::string{file.name} + ": " + header.message};
    icons.push_back(std::move(icon));
  }
  return icons;
}

}  // namespace orrery::render
