#pragma once

#include <memory>
#include <type_traits>

#include "compute/cuda/device.h"

namespace orrery::cuda {

/// An owned stream of one device that does not wait for the legacy default stream.
class Stream {
 public:
  /// Activates the device.
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

}  // namespace orrery::cuda
