#pragma once

#include <vector>

#include "compute/core/vec.h"
#include "compute/cuda/arrays.h"

namespace orrery::cuda {

/// The lengths of vectors on the device, brought to the host without waiting: one array at a time.
class Magnitudes {
 public:
  explicit Magnitudes(const Device& device) : device_{device} {}

  /// Takes the memory that enqueue() needs, which may wait for the device.
  void prepare(int count);
  /// Enqueues sqrt(x^2 + y^2 + z^2) of each of `count` vectors, after prepare() for them.
  void enqueue(const Vec4* d_vectors, int count, cudaStream_t stream);
  /// Once the stream has passed what was enqueued.
  std::vector<float> values() const;

 private:
  const Device& device_;
  int count_ = 0;
  DeviceArray<float> d_values_;
  HostArray<float> values_;  // written by the device
};

}  // namespace orrery::cuda
