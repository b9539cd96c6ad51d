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

/// An owned event that tells streams, of its own device and of others, how far a stream of its device has come. It
/// takes no time stamps, so that a record is cheap.
class OrderEvent {
 public:
  /// Activates the device.
  explicit OrderEvent(const Device& device) : OrderEvent{device, cudaEventDisableTiming} {}
  cudaEvent_t get() const noexcept { return event_.get(); }
  void record(cudaStream_t stream) const { ORRERY_CUDA_CHECK(cudaEventRecord(get(), stream)); }
  void synchronize() const { ORRERY_CUDA_CHECK(cudaEventSynchronize(get())); }

  /// Returns whether the work before it on the stream is done. Throws cuda::Error if that work failed.
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

/// An owned event that takes time stamps, for streams of one device.
class Event : public OrderEvent {
 public:
  /// Activates the device.
  explicit Event(const Device& device) : OrderEvent{device, cudaEventDefault} {}
};

/// Returns the GPU time in ms between two events that were reached.
inline double elapsed_ms(const Event& begin, const Event& end) {
  float ms = 0;
  ORRERY_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return static_cast<double>(ms);
}

}  // namespace orrery::cuda
