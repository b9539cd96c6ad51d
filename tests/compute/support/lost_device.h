#pragma once

#include <stdexcept>
#include <string>

#include "compute/core/backend.h"

namespace orrery::test {

/// Stands for an error after which a device does nothing more: that of the CPU engine, or another one.
class LostDevice final : public std::runtime_error, public DeviceLost {
 public:
  explicit LostDevice(const std::string& what, Backend backend = Backend::cpu)
      : std::runtime_error{what}, backend_{backend} {}
  Backend backend() const noexcept override { return backend_; }

 private:
  Backend backend_;
};

/// Stands for a loss of the bodies of the CPU engine.
struct LostBodies final : std::runtime_error, BodiesLost {
  using runtime_error::runtime_error;
  Backend backend() const noexcept override { return Backend::cpu; }
};

}  // namespace orrery::test
