#pragma once

namespace orrery {

/// Also a base of those exceptions after which a device does nothing more for this process.
class DeviceLost {
 public:
  virtual ~DeviceLost() = default;
};

}  // namespace orrery
