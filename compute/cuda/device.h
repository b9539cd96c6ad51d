#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace orrery::cuda {

struct DeviceInfo {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  int clock_khz = 0;  ///< the SM clock's maximum
  std::size_t memory_bytes = 0;
};

/// "13.0" from CUDA's 13000.
std::string version_text(int version);
/// What this program was linked with, and what the driver supports; 0 where there is no driver.
int runtime_version();
int driver_version();
/// The NVIDIA driver's own version and what it supports: "580.159.04, CUDA 13.0"; empty where there is no driver.
std::string driver_text();

/// Every CUDA device here. Throws cuda::Error if the driver is missing or too old, or there is no device.
std::vector<DeviceInfo> devices();

/// Makes `index` this thread's device for everything that follows. Throws UsageError that lists the devices.
void select_device(int index);
DeviceInfo current_device();

/// Free device memory in bytes.
std::size_t free_memory_bytes();

}  // namespace orrery::cuda
