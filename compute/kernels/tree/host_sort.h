#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace orrery {

/// A body's Morton key and its place in the original order.
struct KeyedBody {
  std::uint64_t key;
  std::uint32_t body;
};

/// Sorts by key; equal keys keep their order. A radix sort whose arrays are reused by the next call.
class KeySort {
 public:
  /// Uses `threads` threads. Once `cancelled` (may be null) is set, returns early with the bodies in any order.
  void sort(std::vector<KeyedBody>& bodies, int threads, const std::atomic<bool>* cancelled);

 private:
  std::vector<KeyedBody> other_;
  std::vector<std::uint32_t> places_;  ///< for each slice of the bodies, the place of the next one with each digit
};

}  // namespace orrery
