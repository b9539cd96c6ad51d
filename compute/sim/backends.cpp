#include "compute/sim/backends.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/sim/command.h"
#include "compute/sim/engine/engine.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/cuda/error.h"
#include "compute/integrators/update_cuda.h"
#endif

namespace orrery {
namespace {

BackendStatus ask_cpu() {
  std::ifstream cpuinfo{"/proc/cpuinfo"};
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return {true, "", line.substr(line.find(':') + 2)};
  }
  return {true, "", "unknown processor"};
}

BackendStatus ask_cuda() {
#if ORRERY_HAVE_CUDA
  try {
    cuda::devices();
    cuda::require_code();
    return {true, "", cuda::current_device().name};
  } catch (const cuda::Error& error) {
    switch (error.code()) {
      case cudaErrorNoDevice:
        return {false, "no CUDA device in this machine (or CUDA_VISIBLE_DEVICES hides it)", ""};
      case cudaErrorInsufficientDriver: {
        const int driver = cuda::driver_version();
        const std::string needed = cuda::version_text(cuda::runtime_version());
        return {false,
                driver == 0
                    ? "no NVIDIA driver: install one that supports CUDA " + needed
                    : "the NVIDIA driver supports CUDA " + cuda::version_text(driver) + " and this build needs " +
                          needed + ": update the driver, or build with an older toolkit",
                ""};
      }
      case cudaErrorNoKernelImageForDevice:
        return {false, "this build has no code for " + cuda::current_device().name + ": build again on this machine",
                ""};
      default:
        return {false, error.what(), ""};
    }
  }
#else
  return {false, "this build has no CUDA kernels: install the CUDA toolkit 12 or 13 and build again", ""};
#endif
}

}  // namespace

std::unique_ptr<Engine> make_engine(Backend backend, [[maybe_unused]] DeviceStorage* storage) {
  const BackendStatus& status = backend_status(backend);
  if (!status.available) {
    throw std::runtime_error(std::string{to_string(backend)} + " kernels cannot run: " + status.reason +
                             "; can run here: " + available_kernels());
  }
#if ORRERY_HAVE_CUDA
  if (backend == Backend::cuda) return make_cuda_engine(storage);
#endif
  return make_cpu_engine();
}

const BackendStatus& backend_status(Backend backend) {
  static const BackendStatus cpu = ask_cpu();
  if (backend == Backend::cpu) return cpu;
  static const BackendStatus cuda = ask_cuda();
  return cuda;
}

std::string available_kernels() {
  std::vector<const KernelInfo*> available;
  std::ranges::copy_if(kernels(), std::back_inserter(available),
                       [](const KernelInfo* kernel) { return backend_status(kernel->backend).available; });
  return joined_ids(available);
}

const KernelInfo& default_kernel() {
  return find_kernel(backend_status(Backend::cuda).available ? "cuda-tiled" : "cpu-simd");
}

std::function<void()> device_of_this_thread() {
#if ORRERY_HAVE_CUDA
  if (backend_status(Backend::cuda).available) {
    return [index = cuda::current_device().index] { cuda::select_device(index); };
  }
#endif
  return [] {};
}

const KernelInfo* find_kernel_or_auto(std::string_view id) {
  return id == auto_kernel ? nullptr : &find_kernel(id, auto_kernel);
}

}  // namespace orrery
