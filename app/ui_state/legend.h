// The legend of the picture, and texts in it.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/colours/body_colour.h"

namespace orrery {

using SrgbColour = std::array<float, 3>;  ///< 0 to 1

/// A colour with its meaning, such as a part of the scene.
struct LegendPart {
  std::string name{};
  SrgbColour colour{};
};

/// Meaning of the colours and lengths of the picture, in units of G = 1.
struct Legend {
  std::string quantity;      ///< that the colours show: "speed"; empty: they show none
  float low = 0, high = 1;   ///< values with the first and the last colour, if there are `colours`; values beyond have
                             ///< the same colours
  bool logarithmic = false;  ///< the colours between are even in the value's logarithm
  std::vector<SrgbColour> colours{};  ///< of the map from low to high; empty: no range is known, or there are `parts`
  /// Names of low and high if the values are classes, each with one of `colours`: "dt / 8"; empty: values are
  /// continuous.
  std::string low_class{}, high_class{};
  float world_per_height = 0;            ///< length that the window's height shows at the camera's target
  std::string unit{};                    ///< of the quantity: "length / time"
  std::optional<Dimension> dimension{};  ///< of the quantity; none: its values have no unit
  std::optional<float> below{},
      above{};                      ///< shares of the bodies with values below low and above high; none: not known
  std::vector<LegendPart> parts{};  ///< if the colours show parts of the scene or one value
  std::optional<float> known{};     ///< share of the bodies whose values are known; the others are grey
  std::string note{};               ///< why values are not known
  float trail_length = 0;           ///< time that the trails show; 0: there are none
  LegendPart arrows{};              ///< what the arrows show: "velocity"; no name: there are none
  float arrow_per_height = 0;       ///< value of an arrow as long as the window's height, at the camera's target
  LegendPart cells{};               ///< "level 5: 1,203 cells"; no name: none are drawn
  std::vector<LegendPart> walk{};   ///< the cells that a body meets in the tree; empty: none are drawn
  std::string tick{};               ///< the length between two tick marks of the axes; empty: there are none
};

/// A text in the picture.
struct PictureLabel {
  std::string text;
  std::array<float, 2> place{};   ///< of its middle, in shares of the window from its upper left corner
  std::array<float, 3> colour{};  ///< sRGB, 0 to 1
  bool strong = false;            ///< a name rather than a number
};

/// The largest of 1, 2 and 5 times a power of ten that is at most `length`, which is > 0.
inline double round_length(double length) {
  const double decade = std::pow(10, std::floor(std::log10(length)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * decade <= length) return factor * decade;
  }
  return decade;
}

}  // namespace orrery
