#pragma once

#include <array>
#include <string>

namespace orrery {

/// Whether kernels of a backend can run in this process.
struct BackendStatus {
  bool available = false;
  std::string reason;  ///< why not and what cures it, one line; empty when available
  std::string device;  ///< the processor's or GPU's name; empty when unavailable
};
using BackendStatuses = std::array<BackendStatus, 2>;  ///< by Backend

}  // namespace orrery
