#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// A few forces, computed by a kernel and compared with the double-precision sum.
struct KernelTrial {
  std::string kernel{};
  std::string failure{};  ///< one line; empty: the forces are right
};

/// What shows whether a machine can do all that the program offers.
struct Symptoms {
  bool nvidia_gpu = false;  ///< one is in the machine, whether or not CUDA can use it
  bool cuda_runs = false;
  std::string cuda_reason{};          ///< why not, with its cure
  std::string nvml_problem{};         ///< why clocks and power are unknown; empty if they are known
  bool profiling_is_refused = false;  ///< the driver reserves performance counters for root, and this user is not
  GlReport gl{};
  std::string display{};  ///< of X11 or Wayland, such as ":0"; empty if the environment names none
  bool over_ssh = false, in_wsl = false;
  bool has_avx2 = true;
  int hardware_threads = 1, openmp_threads = 1;
  std::string busy_waiting{};  ///< the setting that lets OpenMP's idle threads keep their cores; empty if there is none
  std::int64_t bodies_that_fit = 0;              ///< into the free memory of the machine
  std::optional<std::size_t> free_gpu_memory{};  ///< bytes
  std::vector<KernelTrial> trials{};
};

/// Looks at the machine, and tries one kernel of each backend that runs.
Symptoms symptoms(const Backends& backends, const GlReport& gl);

}  // namespace orrery
