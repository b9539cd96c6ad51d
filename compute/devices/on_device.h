#pragma once

#include <functional>

#include "compute/cuda/device.h"

namespace orrery {

/// Calls `work` while `device` is active; what it throws names the device.
void on_device(const cuda::Device& device, const std::function<void()>& work);

/// Activates the device at the end of a scope that activates others, also if that ends by an exception.
class ActiveAfterwards {
 public:
  explicit ActiveAfterwards(const cuda::Device& device) : device_{device} {}
  ActiveAfterwards(const ActiveAfterwards&) = delete;
  ActiveAfterwards& operator=(const ActiveAfterwards&) = delete;
  ~ActiveAfterwards() { ORRERY_CUDA_WARN(cudaSetDevice(device_.ordinal())); }

 private:
  const cuda::Device& device_;
};

}  // namespace orrery
