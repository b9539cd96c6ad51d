#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "compute/kernels/kernel.h"

namespace orrery {

class DeviceStorage;
class Engine;

/// Whether kernels of a backend can run in this process.
struct BackendStatus {
  bool available = false;
  std::string reason;  ///< why not and what cures it, one line; empty when available
  std::string device;  ///< the processor's or GPU's name; empty when unavailable
};

/// Asks the machine once and remembers: the first call for `cuda` initializes the CUDA runtime.
const BackendStatus& backend_status(Backend backend);

/// "cpu-serial, cpu-openmp, ...": the kernels that can run in this process.
std::string available_kernels();

/// The kernel that a fresh simulation uses where nothing is measured: one that is fast and available here.
const KernelInfo& default_kernel();

/// See make_cuda_engine(). Throws std::runtime_error with the reason where the backend is not available.
std::unique_ptr<Engine> make_engine(Backend backend, DeviceStorage* storage);

/// Returns a function that selects the caller's CUDA device for whichever thread calls it.
std::function<void()> device_of_this_thread();

/// The kernel of this id; null for `auto_kernel`. Throws UsageError that lists what there is.
const KernelInfo* find_kernel_or_auto(std::string_view id);

}  // namespace orrery
