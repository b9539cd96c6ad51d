#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"
#include "compute/cuda/device.h"
#include "compute/kernels/division_facet.h"

namespace orrery {

/// Puts bodies into the order of the domains that several devices get, with as many bodies in each as is asked for.
/// This takes less time than a sort by key: it reads the keys two to eight times, until it has found the cells in which
/// the domains meet, and sorts by 7 bits. Within a domain, bodies are not in the order of their keys.
class DomainKeys {
 public:
  explicit DomainKeys(const cuda::Device& device) : device_{device} {}

  /// Takes memory for so many borders between domains.
  void prepare(int borders);
  /// Bytes of memory for order().
  static std::size_t stretch_bytes(int count) { return 2 * static_cast<std::size_t>(count); }
  static std::size_t sort_bytes(const cuda::Device& device, int count);

  /// What order() gets.
  struct Keys {
    const std::uint64_t* keys;
    int* numbers;        ///< of `count` bodies: 0, 1, ...
    int* other_numbers;  ///< room for as many
    int count;
  };
  struct Space {
    unsigned char* stretches;  ///< stretch_bytes()
    void* sort_space;
    std::size_t sort_bytes;
  };
  /// Enqueues the sort. `ranks`: of the first body of each domain but the first, ascending. Returns which of the two
  /// arrays of numbers has them in order.
  int* order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream);

 private:
  const cuda::Device& device_;
  cuda::DeviceArray<int> histograms_;
};

/// picked[i] = keys[order[i]] for i in [0, count), count > 0.
void pick_keys(const std::uint64_t* keys, const int* order, int count, std::uint64_t* picked, cudaStream_t stream);
/// The same of flags.
void pick_flags(const unsigned char* flags, const int* order, int count, unsigned char* picked, cudaStream_t stream);
/// spread[order[i]] = entries[i] for i in [0, count), count > 0.
void spread_entries(const Vec4* entries, const int* order, int count, Vec4* spread, cudaStream_t stream);

}  // namespace orrery
