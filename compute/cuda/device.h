#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compute/cuda/error.h"

namespace orrery::cuda {

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int major = 0, minor = 0;                                ///< compute capability
  int architecture() const { return 10 * major + minor; }  ///< 90 for sm_90
  int multiprocessors = 0;
  int clock_khz = 0;  ///< the SM clock's maximum
  std::size_t memory_bytes = 0;
};

/// "13.0" from CUDA's 13000.
std::string version_text(int version);
/// The CUDA version that this program was linked with, and the one that the driver supports; 0 if there is no driver.
int runtime_version();
int driver_version();
/// The NVIDIA driver's own version and what it supports: "580.159.04, CUDA 13.0"; empty if there is no driver.
std::string driver_text();

/// All CUDA devices. Throws cuda::Error if the driver is missing or too old, or if there is no device.
std::vector<DeviceInfo> devices();

/// One CUDA device. Memory, streams, events and kernels belong to a device and must not outlive it. Code activates its
/// own device before a launch and never relies on the current one.
class Device {
 public:
  /// Throws UsageError that lists the devices if none has this ordinal, and cuda::Error as devices() does.
  explicit Device(int ordinal);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const { return info_.ordinal; }
  const DeviceInfo& info() const { return info_; }
  int multiprocessors() const { return info_.multiprocessors; }
  int attribute(cudaDeviceAttr which) const;

  /// From now on, the calling thread launches and allocates on this device.
  void activate() const;
  /// Free device memory in bytes. Activates the device.
  std::size_t free_memory() const;
  /// Waits for all work on the device. Activates it.
  void synchronize() const;

 private:
  DeviceInfo info_;
};

}  // namespace orrery::cuda
