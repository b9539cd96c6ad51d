// Stands for cuda_engine.cpp in a build without CUDA.
#include <stdexcept>

#include "compute/sim/backends.h"
#include "compute/sim/engine.h"

namespace orrery {

std::unique_ptr<Engine> make_cuda_engine(DeviceStorage*) {
  throw std::runtime_error("cuda kernels cannot run: " + backend_status(Backend::cuda).reason);
}

}  // namespace orrery
