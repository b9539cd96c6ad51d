// CUDA devices with their streams and events, and errors of CUDA calls.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/error.h"

namespace orrery::cuda {

/// Error of a CUDA call: "call: description (name of the error)".
class Error : public std::runtime_error {
 public:
  Error(cudaError_t code, const char* call)
      : std::runtime_error{std::string{call} + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")"},
        code_{code} {}
  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// Error after which every later CUDA call of this process fails.
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
  (void)cudaGetLastError();  // otherwise the next launch check would report this error as its own
  if (is_sticky(code)) throw LostDeviceError{code, call};
  throw Error{code, call};
}

/// Prints an error and never throws, for destructors. Skips sticky errors: the call that met one first has reported it.
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
  int clock_khz = 0;  ///< maximum clock of the multiprocessors
  std::size_t memory_bytes = 0;
};

/// Returns a version as text: "13.0" for CUDA's 13000.
std::string version_text(int version);

/// The next functions return the CUDA version that this program was linked with, and the one that the driver supports
/// (0: there is no driver), as numbers such as 13000.
int runtime_version();
int driver_version();

/// Returns the NVIDIA driver's version and the CUDA version that it supports: "580.159.04, CUDA 13.0"; empty: no
/// driver.
std::string driver_text();

/// Returns all CUDA devices. Throws cuda::Error if the driver is missing or too old, or if there is no device.
std::vector<DeviceInfo> devices();

/// One CUDA device. Memory, streams, events and kernels belong to a device and must not outlive it. Code activates its
/// device before each launch, and never relies on the active one.
class Device {
 public:
  /// Finds a device. Throws UsageError that lists the devices if none has this ordinal; cuda::Error as devices() does.
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
  /// Blocks until all work on the device has finished. Activates the device.
  void synchronize() const;

 private:
  DeviceInfo info_;
};

/// Owner of a stream that does not wait for the legacy default stream.
class Stream {
 public:
  /// Creates the stream. Activates the device.
  explicit Stream(const Device& device) {
    device.activate();
    cudaStream_t stream = nullptr;
    ORRERY_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
  }
  cudaStream_t get() const noexcept { return stream_.get(); }
  void synchronize() const { ORRERY_CUDA_CHECK(cudaStreamSynchronize(get())); }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const noexcept { ORRERY_CUDA_WARN(cudaStreamDestroy(stream)); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

/// Owner of an event that marks a point in a stream of its device. Streams of any device can wait for it. It has no
/// time stamp, so that recording it is cheap.
class OrderEvent {
 public:
  /// Creates the event. Activates the device.
  explicit OrderEvent(const Device& device) : OrderEvent{device, cudaEventDisableTiming} {}
  cudaEvent_t get() const noexcept { return event_.get(); }
  void record(cudaStream_t stream) const { ORRERY_CUDA_CHECK(cudaEventRecord(get(), stream)); }
  void synchronize() const { ORRERY_CUDA_CHECK(cudaEventSynchronize(get())); }

  /// Returns whether the work before the event on its stream is done. Throws cuda::Error if that work failed.
  bool reached() const {
    const cudaError_t status = cudaEventQuery(get());
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // not an error, but launch checks would see it as one
      return false;
    }
    ORRERY_CUDA_CHECK(status);
    return true;
  }

 protected:
  OrderEvent(const Device& device, unsigned flags) {
    device.activate();
    cudaEvent_t event = nullptr;
    ORRERY_CUDA_CHECK(cudaEventCreateWithFlags(&event, flags));
    event_.reset(event);
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const noexcept { ORRERY_CUDA_WARN(cudaEventDestroy(event)); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

/// Owner of an event with a time stamp, for streams of one device.
class Event : public OrderEvent {
 public:
  /// Creates the event. Activates the device.
  explicit Event(const Device& device) : OrderEvent{device, cudaEventDefault} {}
};

/// Returns the GPU time in ms between two events that have been reached.
inline double elapsed_ms(const Event& begin, const Event& end) {
  float ms = 0;
  ORRERY_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return static_cast<double>(ms);
}

}  // namespace orrery::cuda
