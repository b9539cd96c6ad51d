// The legend of the picture, and text labels in it.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "app/colours/body_colour.h"

namespace orrery {

using SrgbColour = std::array<float, 3>;  ///< sRGB components, 0 to 1

/// A colour and its meaning, such as a part of the scene.
struct LegendPart {
  std::string name{};
  SrgbColour colour{};
};

/// Meaning of the colours and lengths of the picture, in units of G = 1.
struct Legend {
  std::string quantity;               ///< quantity shown by the colours, such as "speed"; empty: none
  float low = 0, high = 1;            ///< ends of the range if there are `colours`; values beyond have the end colours
  bool logarithmic = false;           ///< colours are evenly spaced in the value's logarithm
  std::vector<SrgbColour> colours{};  ///< from low to high; empty: the range is not known, or there are `parts`
  /// Names of low and high, such as "dt / 8", if the values are classes with one of `colours` each. Empty if the values
  /// are continuous.
  std::string low_class{}, high_class{};
  float world_per_height = 0;             ///< length that the window's height represents at the camera's target
  std::string unit{};                     ///< unit of the quantity: "length / time"
  std::optional<Dimension> dimension{};   ///< dimension of the quantity; none: it has no unit
  std::optional<float> below{}, above{};  ///< fractions of the bodies below low and above high; none: not known
  std::vector<LegendPart> parts{};        ///< set if the colours show parts of the scene or a single value
  std::optional<float> known{};           ///< fraction of the bodies whose values are known; the others are grey
  std::string note{};                     ///< why values are not known
  float trail_length = 0;                 ///< time span of the trails; 0: no trails
  LegendPart arrows{};                    ///< quantity shown by the arrows: "velocity"; no name: no arrows
  float arrow_per_height = 0;             ///< value of an arrow as long as the window's height, at the camera's target
  LegendPart cells{};                     ///< "level 5: 1,203 cells"; no name: no cells are drawn
  std::vector<LegendPart> walk{};         ///< cells that a body's tree walk meets; empty: none are drawn
  std::string tick{};                     ///< length between two ticks of the axes; empty: no axes
};

/// A text label in the picture.
struct PictureLabel {
  std::string text;
  std::array<float, 2> place{};   ///< middle of the text, in fractions of the window from its upper left corner
  std::array<float, 3> colour{};  ///< sRGB, 0 to 1
  bool strong = false;            ///< emphasized: a name rather than a number
};

/// Returns the largest number 1, 2 or 5 times a power of ten that is at most `length` > 0.
inline double round_length(double length) {
  const double decade = std::pow(10, std::floor(std::log10(length)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * decade <= length) return factor * decade;
  }
  return decade;
}

}  // namespace orrery
