#include "app/lab/use_device.h"

#include <stdexcept>
#include <string>

#include "compute/sim/backends.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/cuda/error.h"
#endif

namespace orrery {

#if ORRERY_HAVE_CUDA
void use_device(int index) {
  try {
    cuda::select_device(index);
  } catch (const cuda::Error&) {
    const BackendStatus& status = backend_status(Backend::cuda);
    if (status.available) throw;
    throw std::runtime_error("--device: " + status.reason);
  }
}
#else
void use_device(int) {
  throw std::runtime_error("--device: " + backend_status(Backend::cuda).reason);
}
#endif

}  // namespace orrery
