#pragma once

#include <functional>

#include "compute/sim/engine/device_storage.h"

namespace orrery {

/// What a batch measures beside its steps, on the same stream. By default, a part does nothing.
struct CudaMeasurement {
  /// Before the first launch: taking memory waits for the device, and may fail.
  std::function<void()> prepare = [] {};
  /// Behind the steps, while the bodies are mapped.
  std::function<void(const DeviceBodies&)> read = [](const DeviceBodies&) {};
  /// When the bodies are unmapped, so that the display does not wait for it.
  std::function<void()> compute = [] {};
};

}  // namespace orrery
