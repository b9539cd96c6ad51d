#pragma once

#include "compute/core/backend.h"

namespace orrery {

/// Also a base of those exceptions after which a backend has no bodies any more.
class BackendLost {
 public:
  virtual ~BackendLost() = default;
  virtual Backend backend() const noexcept = 0;
};

/// Its device does nothing more for this process.
class DeviceLost : public BackendLost {};

/// Its device still works.
class BodiesLost : public BackendLost {};

}  // namespace orrery
