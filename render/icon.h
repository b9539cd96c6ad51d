#pragma once

#include <cstdint>
#include <vector>

namespace orrery::render {

/// 8 bits per channel, sRGB with straight alpha, top row first.
struct Icon {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

/// The program's icon in its sizes, from the files of assets/icon.
std::vector<Icon> icons();

}  // namespace orrery::render
