#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace orrery {

/// The body that the user picked, in units of G = 1.
struct PickedBody {
  int number = 0;      ///< counted from 0
  std::string part{};  ///< of the scene: "halo", "star"; empty if the scene has no parts
  float mass = 0;
  std::array<float, 3> position{}, velocity{};
  float distance = 0;  ///< from the camera's target
  /// Where it is seen, in shares of the window from its upper left corner; none if it is behind the camera.
  std::optional<std::array<float, 2>> place{};
  /// The mean between the two latest readings; none if they are of the same time.
  std::optional<std::array<float, 3>> acceleration{};
  /// What its group of neighbours meets in the tree; none if that was not read.
  struct Walk {
    std::int64_t cells, bodies;
  };
  std::optional<Walk> walk{};
};

}  // namespace orrery
