#pragma once

namespace orrery {

/// The hardware that computes: the processor or a CUDA device.
enum class Backend { cpu, cuda };

/// Second base class of exceptions after which a backend has lost its bodies.
class BackendLost {
 public:
  virtual ~BackendLost() = default;
  virtual Backend backend() const noexcept = 0;
};

/// The device is of no further use to this process.
class DeviceLost : public BackendLost {};

/// The device still works.
class BodiesLost : public BackendLost {};

}  // namespace orrery
