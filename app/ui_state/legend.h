#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

using SrgbColour = std::array<float, 3>;  ///< 0 to 1

/// A part of the scene and its colour.
struct LegendPart {
  std::string name;
  SrgbColour colour;
};

/// What the colours and lengths of the picture mean, in units of G = 1.
struct Legend {
  std::string quantity;      ///< that the colours show: "speed"; empty: they show none
  float low = 0, high = 1;   ///< values with the first and the last colour; values beyond have the same colours
  bool logarithmic = false;  ///< the colours between are even in the value's logarithm
  std::vector<SrgbColour> colours{};  ///< of the map from low to high
  float world_per_height = 0;         ///< length that the window's height shows at the camera's target
  std::string unit{};                 ///< of the quantity: "length / time"
  std::optional<float> below{},
      above{};                      ///< shares of the bodies with values below low and above high; none: not known
  std::vector<LegendPart> parts{};  ///< if the colours show parts of the scene
  std::optional<float> known{};     ///< share of the bodies whose values are known; the others are grey
  std::string note{};               ///< why values are not known
};

}  // namespace orrery
