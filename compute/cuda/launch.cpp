#include "compute/cuda/launch.h"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "compute/cuda/dependent_launch.h"

namespace orrery::cuda {

int known_resident_blocks(const Device& device, const void* function, int block) {
  static std::mutex mutex;
  static std::map<std::tuple<int, const void*, int>, int> known;
  const std::lock_guard lock{mutex};
  const std::tuple key{device.ordinal(), function, block};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const int blocks = resident_blocks(device, kernel_handle(function), block);
  known.emplace(key, blocks);
  return blocks;
}

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
