#pragma once

#include <string>

#include "compute/kernels/kernel.h"

namespace orrery {

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

/// The kernel that a fresh simulation uses: the fastest of the list that is available here.
const KernelInfo& default_kernel();

}  // namespace orrery
