#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/core/backend.h"

namespace orrery::cuda {

/// A CUDA call that failed: "call: description (name of the error)".
class Error : public std::runtime_error {
 public:
  Error(cudaError_t code, const char* call)
      : std::runtime_error{std::string{call} + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")"},
        code_{code} {}
  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// An error after which every later call of this process fails.
class LostDeviceError final : public Error, public DeviceLost {
 public:
  using Error::Error;
  Backend backend() const noexcept override { return Backend::cuda; }
};

inline bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next launch check would report this error as its own
  if (is_sticky(code)) throw LostDeviceError{code, call};
  throw Error{code, call};
}

/// Reports an error and never throws, for destructors. Whoever met a sticky error first has reported it.
inline void warn(cudaError_t code, const char* call) noexcept {
  if (code == cudaSuccess || code == cudaErrorCudartUnloading || is_sticky(code)) return;
  (void)cudaGetLastError();
  std::fprintf(stderr, "orrery: %s: %s\n", call, cudaGetErrorString(code));
}

}  // namespace orrery::cuda

#define ORRERY_CUDA_CHECK(call) ::orrery::cuda::check((call), #call)
#define ORRERY_CUDA_WARN(call) ::orrery::cuda::warn((call), #call)
#define ORRERY_CUDA_CHECK_LAUNCH(kernel) ::orrery::cuda::check(cudaGetLastError(), "launch of " #kernel)

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

/// Returns "13.0" from CUDA's 13000.
std::string version_text(int version);

/// The CUDA version that this program was linked with, and the one that the driver supports; 0 if there is no driver.
int runtime_version();
int driver_version();

/// The NVIDIA driver's own version and what it supports: "580.159.04, CUDA 13.0"; empty if there is no driver.
std::string driver_text();

/// Returns all CUDA devices. Throws cuda::Error if the driver is missing or too old, or if there is no device.
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

  /// Makes the calling thread launch and allocate on this device.
  void activate() const;
  /// Returns the free device memory in bytes. Activates the device.
  std::size_t free_memory() const;
  /// Blocks until the end of all work on the device. Activates it.
  void synchronize() const;

 private:
  DeviceInfo info_;
};

}  // namespace orrery::cuda
