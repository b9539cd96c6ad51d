// Backends (the hardware that computes), their availability, and exceptions for their loss.
#pragma once

#include <array>
#include <string>

namespace orrery {

/// The hardware that computes: the processor or a CUDA device.
enum class Backend { cpu, cuda };

/// Second base class of exceptions that mean that a backend has lost its bodies.
class BackendLost {
 public:
  virtual ~BackendLost() = default;
  virtual Backend backend() const noexcept = 0;
};

/// Exception for the loss of a device, which this process cannot use any more.
class DeviceLost : public BackendLost {};

/// Exception for the loss of only the bodies: the device still works.
class BodiesLost : public BackendLost {};

/// Availability of a backend: whether its kernels can run in this process.
struct BackendStatus {
  bool available = false;
  std::string reason;  ///< why it is not available, and the cure, in one line; empty if available
  std::string device;  ///< the processor's or GPU's name; empty when unavailable
};

using BackendStatuses = std::array<BackendStatus, 2>;  ///< one entry per backend

}  // namespace orrery
