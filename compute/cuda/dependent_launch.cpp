#include "compute/cuda/dependent_launch.h"

#include <map>
#include <mutex>
#include <utility>

namespace orrery::cuda {

DependentKernel dependent_kernel(const Device& device, const void* function) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, DependentKernel> known;  // asking the runtime takes longer than a launch
  const std::lock_guard lock{mutex};
  const auto [entry, is_new] = known.try_emplace({device.ordinal(), function});
  if (is_new) {
    constexpr int first_that_waits = 90;
    const cudaKernel_t handle = kernel_handle(function);
    // ptxVersion is the architecture that the source was compiled for. Code for an older one does not wait, even if it
    // is JIT-compiled for this GPU.
    entry->second = {handle, attributes_of(device, handle).ptxVersion >= first_that_waits};
  }
  return entry->second;
}

}  // namespace orrery::cuda
