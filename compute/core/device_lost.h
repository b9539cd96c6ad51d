#pragma once

#include "compute/core/backend.h"

namespace orrery {

/// Also a base of those exceptions after which the device of a backend does nothing more for this process.
class DeviceLost {
 public:
  virtual ~DeviceLost() = default;
  virtual Backend backend() const noexcept = 0;
};

}  // namespace orrery
