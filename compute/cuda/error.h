#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "compute/core/backend_lost.h"

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

/// An error after which every later call fails, in this process.
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

/// For destructors: reports, never throws. Whoever met a sticky error first has reported it.
inline void warn(cudaError_t code, const char* call) noexcept {
  if (code == cudaSuccess || code == cudaErrorCudartUnloading || is_sticky(code)) return;
  (void)cudaGetLastError();
  std::fprintf(stderr, "orrery: %s: %s\n", call, cudaGetErrorString(code));
}

}  // namespace orrery::cuda

#define ORRERY_CUDA_CHECK(call) ::orrery::cuda::check((call), #call)
#define ORRERY_CUDA_WARN(call) ::orrery::cuda::warn((call), #call)
#define ORRERY_CUDA_CHECK_LAUNCH(kernel) ::orrery::cuda::check(cudaGetLastError(), "launch of " #kernel)
