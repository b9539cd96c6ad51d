#pragma once

#include <array>
#include <string>
#include <vector>

namespace orrery {

/// What the colours and lengths of the picture mean, in units of G = 1.
struct Legend {
  std::string quantity;      ///< that the colours show: "speed"; empty: they show none
  float low = 0, high = 1;   ///< values with the first and the last colour; values beyond have the same colours
  bool logarithmic = false;  ///< the colours between are even in the value's logarithm
  std::vector<std::array<float, 3>> colours;  ///< of the map from low to high, sRGB, 0 to 1
  float world_per_height = 0;                 ///< length that the window's height shows at the camera's target
};

}  // namespace orrery
