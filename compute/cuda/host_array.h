#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "compute/cuda/device.h"

namespace orrery::cuda {

/// `size()` objects of T in host memory for copies to and from the device, uninitialized: page-locked (pinned), which
/// the device accesses itself, or from the heap, which the driver copies piece by piece.
template <class T>
requires std::is_trivially_copyable_v<T>
class HostArray {
 public:
  HostArray() = default;
  /// For copies to and from `device`. Activates it if `pinned`.
  HostArray(const Device& device, std::size_t size, bool pinned)
      : data_{allocate(device, size, pinned), Free{pinned}}, size_{size} {}

  std::size_t size() const noexcept { return data_ ? size_ : 0; }  // 0 once moved from
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
