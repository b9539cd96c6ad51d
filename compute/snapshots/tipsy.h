#pragma once

#include <filesystem>

#include "compute/core/bodies.h"
#include "compute/core/output_name.h"

namespace orrery {

/// A TIPSY binary snapshot: a 32-byte header, then gas (48 bytes), dark (36) and star (44) records of 4-byte floats.
struct TipsySnapshot {
  Bodies bodies;    ///< gas, then dark, then star, as in the file
  double time = 0;  ///< in units of G = 1, as in the file
};

/// What a body read from a file may have, so that no distance squared or pull leaves the range of single precision.
struct TipsyLimits {
  static constexpr float largest = 1e15f;  ///< of a coordinate, a velocity or a mass, as a magnitude
  static constexpr float smallest_mass = 1e-30f;
};

enum class ByteOrder { big, little };  ///< "standard" (XDR) and "native" TIPSY

/// Either byte order, any value in the header's pad word. Throws std::runtime_error with one line that names the file
/// and the cause: missing, empty, truncated or oversized against its header, no bodies, a body whose position, velocity
/// or mass is not finite or outside TipsyLimits, a mass that is not positive.
TipsySnapshot read_tipsy(const std::filesystem::path& file);

/// Writes all bodies as dark records, as AtomicFile does. Returns the name that the file got. Throws std::runtime_error
/// that names the file and the cause, among them the first body that is not finite.
std::filesystem::path write_tipsy(const std::filesystem::path& file, const TipsySnapshot& snapshot, float softening,
                                  ByteOrder order = ByteOrder::big, Existing existing = Existing::keep);

}  // namespace orrery
