#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute/core/body_scale.h"

namespace orrery {

/// Where several processes write bodies: arrays in a file that one of them has made, with one row per body.
struct JointRows {
  std::string path{};                     ///< absolute, with a random part: no other host has a file of this name
  std::uint64_t file_bytes = 0;           ///< of the whole file
  std::uint64_t positions = 0;            ///< first byte in the file. Rows of 3 float32, little-endian
  std::uint64_t velocities = 0;           ///< likewise
  std::optional<std::uint64_t> masses{};  ///< likewise, rows of 1 float32. None: the file has no such array
  std::optional<BodyScale> scale{};       ///< to the units of the file. None: the bodies' own
};

}  // namespace orrery
