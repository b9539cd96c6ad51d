#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "compute/cuda/device.h"

namespace orrery::cuda {

/// `size()` objects of T in the memory of a device, uninitialized: move-only, freed on destruction, never resized.
template <class T>
requires std::is_trivially_copyable_v<T>
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Activates the device.
  DeviceArray(const Device& device, std::size_t size) : data_{allocate(device, size)}, size_{size} {}

  T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return data_ ? size_ : 0; }  // 0 once moved from

 private:
  static T* allocate(const Device& device, std::size_t size) {
    device.activate();
    void* memory = nullptr;
    if (size > 0) ORRERY_CUDA_CHECK(cudaMalloc(&memory, size * sizeof(T)));
    return static_cast<T*>(memory);
  }
  struct Free {
    void operator()(T* memory) const noexcept { ORRERY_CUDA_WARN(cudaFree(memory)); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

/// Sets all bytes to 0. Any stream may use the array afterwards. Activates the device.
template <class T>
void clear(const Device& device, const DeviceArray<T>& array) {
  device.activate();
  ORRERY_CUDA_CHECK(cudaMemset(array.data(), 0, array.size() * sizeof(T)));
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(nullptr));  // our streams do not wait for the default one
}

/// Copies on the stream. The host memory must live until the copy is done.
template <class T>
void upload(std::span<const T> host, T* device, cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(device, host.data(), host.size_bytes(), cudaMemcpyHostToDevice, stream));
}
template <class T>
void download(const T* device, std::span<T> host, cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(host.data(), device, host.size_bytes(), cudaMemcpyDeviceToHost, stream));
}

}  // namespace orrery::cuda
