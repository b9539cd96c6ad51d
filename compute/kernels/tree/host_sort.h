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

/// Sorts by key; equal keys stay in the order in which they are. A radix sort, whose arrays stay from call to call.
class KeySort {
 public:
  /// On `threads` threads. Once `cancelled` (may be null) is set it returns early, in any order.
  void sort(std::vector<KeyedBody>& bodies, int threads, const std::atomic<bool>* cancelled);

 private:
  std::vector<KeyedBody> other_;
  std::vector<std::uint32_t> places_;  ///< for each slice of the bodies, where those with each digit go
};

}  // namespace orrery
