#pragma once

#include <stdexcept>

#include "compute/core/backend.h"

namespace orrery {

/// The GPU has no memory for the bodies that an engine had, or several GPUs held them and failed.
struct CudaBodiesLost final : std::runtime_error, BodiesLost {
  using runtime_error::runtime_error;
  Backend backend() const noexcept override { return Backend::cuda; }
};

}  // namespace orrery
