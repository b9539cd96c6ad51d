#pragma once

#include <atomic>
#include <cstddef>

#include "compute/cuda/arrays.h"

namespace orrery {

/// A number that a GPU notes in host memory in every evaluation. The host looks without waiting, so it is that of some
/// evaluations ago.
class NotedNumber {
 public:
  explicit NotedNumber(const cuda::Device& device) : noted_{device, 2, /*pinned=*/true} { forget(); }

  /// It becomes 0. A note on its way goes to the other place; after two calls, it may still come.
  void forget() {
    place_ ^= 1;
    std::atomic_ref{*place()}.store(0, std::memory_order_relaxed);
  }
  int value() const { return std::atomic_ref{*place()}.load(std::memory_order_relaxed); }
  /// Where the GPU writes it.
  int* place() const { return &noted_.first(2)[place_]; }

 private:
  cuda::HostArray<int> noted_;
  std::size_t place_ = 0;  // of the present note
};

}  // namespace orrery
