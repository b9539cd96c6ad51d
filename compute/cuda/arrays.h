#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>

#include "compute/core/error.h"
#include "compute/cuda/device.h"

namespace orrery::cuda {

/// Array of size() uninitialized objects in the memory of a device. Move-only, freed on destruction, never resized.
template <class T>
requires std::is_trivially_copyable_v<T>
class DeviceArray {
 public:
  DeviceArray() = default;
  /// Allocates the memory. Activates the device.
  DeviceArray(const Device& device, std::size_t size) : data_{allocate(device, size)}, size_{size} {}

  T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return data_ ? size_ : 0; }  // 0 after a move

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

/// Makes `array` hold at least `size` objects on `device`; its contents may be lost. Throws UsageError if the GPU has
/// less memory free. The text names the memory (`what`, a plural) and an alternative that needs less (`instead`).
template <class T>
void take_scratch(const Device& device, DeviceArray<T>& array, std::size_t size, const std::string& what,
                  const std::string& instead) {
  if (array.size() >= size) return;
  array = {};  // free the old memory before taking the new
  if (const std::size_t bytes = size * sizeof(T); bytes > device.free_memory()) {
    throw UsageError(what + " need " + std::to_string(bytes >> 20) + " MiB, more than the GPU has free; choose " +
                     instead);
  }
  array = DeviceArray<T>(device, size);
}

/// Sets all bytes to 0 and waits for that, so that any stream may use the array. Activates the device.
template <class T>
void clear(const Device& device, const DeviceArray<T>& array) {
  device.activate();
  ORRERY_CUDA_CHECK(cudaMemset(array.data(), 0, array.size() * sizeof(T)));
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(nullptr));  // a Stream does not wait for the default stream
}

/// Enqueues a copy on the stream. The host memory must live until the copy is done.
template <class T>
void upload(std::span<const T> host, T* device, cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(device, host.data(), host.size_bytes(), cudaMemcpyHostToDevice, stream));
}

template <class T>
void download(const T* device, std::span<T> host, cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(host.data(), device, host.size_bytes(), cudaMemcpyDeviceToHost, stream));
}

/// Array of size() uninitialized objects in host memory, for copies to and from a device. The device accesses
/// page-locked (pinned) memory directly. The driver copies heap memory piece by piece.
template <class T>
requires std::is_trivially_copyable_v<T>
class HostArray {
 public:
  HostArray() = default;
  /// Allocates memory for copies to and from `device`. Activates it if `pinned`.
  HostArray(const Device& device, std::size_t size, bool pinned)
      : data_{allocate(device, size, pinned), Free{pinned}}, size_{size} {}

  std::size_t size() const noexcept { return data_ ? size_ : 0; }  // 0 after a move
  std::span<T> first(int count) const noexcept { return {data_.get(), static_cast<std::size_t>(count)}; }
  std::span<T> all() const noexcept { return {data_.get(), size()}; }

 private:
  static T* allocate(const Device& device, std::size_t size, bool pinned) {
    if (!pinned) return static_cast<T*>(::operator new (size * sizeof(T), std::align_val_t{alignof(T)}));
    device.activate();
    void* memory = nullptr;
    if (size > 0) ORRERY_CUDA_CHECK(cudaMallocHost(&memory, size * sizeof(T)));
    return static_cast<T*>(memory);
  }
  struct Free {
    bool pinned = false;
    void operator()(T* memory) const noexcept {
      if (pinned) {
        ORRERY_CUDA_WARN(cudaFreeHost(memory));
      } else {
        ::operator delete (memory, std::align_val_t{alignof(T)});
      }
    }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace orrery::cuda
