#include "app/lab/machine_state.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/cuda/error.h"
#include "compute/cuda/nvml.h"
#endif

namespace orrery {

#if ORRERY_HAVE_CUDA
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json gpu_state_json(int device) {
  std::string reason;
  const auto state = cuda::gpu_state(device, &reason);
  if (!state) return {{"reason", reason}};
  return {{"clock_mhz", or_null(state->clock_mhz)},
          {"memory_clock_mhz", or_null(state->memory_clock_mhz)},
          {"power_w", or_null(state->power_w)},
          {"temperature_c", or_null(state->temperature_c)},
          {"slowed_by", or_null(state->slowed_by)}};
}

Json machine_state(const Backends& backends) {
  if (!backends.device()) return nullptr;
  try {
    return gpu_state_json(backends.device()->ordinal());
  } catch (const cuda::Error& error) {  // left by a kernel that failed
    return {{"reason", error.what()}};
  }
}
#else
Json gpu_state_json(int) {
  return {{"reason", "this program was built without CUDA"}};
}

Json machine_state(const Backends&) {
  return nullptr;
}
#endif

}  // namespace orrery
