#include "compute/cuda/early_launch.h"

#include <map>
#include <mutex>

namespace orrery::cuda {

bool can_start_early(const void* function) {
  static std::mutex mutex;
  static std::map<const void*, bool> known;  // asking the runtime takes longer than a launch
  const std::lock_guard lock{mutex};
  const auto [entry, is_new] = known.try_emplace(function);
  if (is_new) {
    constexpr int first_that_waits = 90;
    cudaFuncAttributes attributes{};
    ORRERY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, function));
    // The architecture that the source was compiled for: code for an older one that was translated for this GPU when
    // the program started does not wait.
    entry->second = attributes.ptxVersion >= first_that_waits;
  }
  return entry->second;
}

}  // namespace orrery::cuda
