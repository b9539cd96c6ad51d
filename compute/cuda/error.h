#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <stdexcept>
#include <string>

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

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next launch check would report this error as its own
  throw Error{code, call};
}

/// For destructors: reports, never throws.
inline void warn(cudaError_t code, const char* call) noexcept {
  if (code == cudaSuccess || code == cudaErrorCudartUnloading) return;
  (void)cudaGetLastError();
  std::fprintf(stderr, "orrery: %s: %s\n", call, cudaGetErrorString(code));
}

}  // namespace orrery::cuda

#define ORRERY_CUDA_CHECK(call) ::orrery::cuda::check((call), #call)
#define ORRERY_CUDA_WARN(call) ::orrery::cuda::warn((call), #call)
#define ORRERY_CUDA_CHECK_LAUNCH(kernel) ::orrery::cuda::check(cudaGetLastError(), "launch of " #kernel)
