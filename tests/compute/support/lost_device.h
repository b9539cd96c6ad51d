#pragma once

#include <stdexcept>

#include "compute/core/device_lost.h"

namespace orrery::test {

/// Stands for an error of CUDA after which the device does nothing more.
struct LostDevice final : std::runtime_error, DeviceLost {
  using runtime_error::runtime_error;
};

}  // namespace orrery::test
