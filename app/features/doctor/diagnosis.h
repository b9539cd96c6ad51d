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

/// Facts that show whether a machine can do all that the program offers.
struct Symptoms {
  bool nvidia_gpu = false;  ///< one is in the machine, whether or not CUDA can use it
  bool has_gpu = false;     ///< of any maker, for OpenGL
  bool cuda_runs = false;
  std::string cuda_reason{};          ///< why not, with its cure
  std::string nvml_problem{};         ///< why clocks and power are unknown; empty if they are known
  bool profiling_is_refused = false;  ///< the driver reserves performance counters for root, and this user is not
  GlReport gl{};
  std::string display{};  ///< of X11 or Wayland, such as ":0"; empty if the environment names none
  bool in_wsl = false;
  bool has_avx2 = true;
  int hardware_threads = 1;           ///< that this process was started with; of ranks that divide them, its part
  int kernel_threads = 1;             ///< of these, what kernels get that ask for all of them
  bool is_bound_rank = false;         ///< mpirun gives it only some of them
  std::string openmp_settings{};      ///< that may be why they get fewer, such as "OMP_PROC_BIND and OMP_PLACES"
  bool fewer_openmp_threads = false;  ///< of a machine that computes
  std::string busy_waiting{};  ///< the setting that lets OpenMP's idle threads keep their cores; empty if there is none
  std::int64_t bodies_that_fit = 0;              ///< into the free memory of the machine
  std::optional<std::size_t> free_gpu_memory{};  ///< bytes
  std::vector<KernelTrial> trials{};
};

/// GPU memory of a body with its part of a tree and a picture; a direct sum without a window takes less.
inline constexpr std::int64_t gpu_bytes_per_body = 1024;

/// Looks at the machine, and tries one kernel of each backend that runs.
Symptoms symptoms(const Backends& backends, const GlReport& gl);

enum class Health {
  healthy,   ///< nothing is wrong; a machine without a GPU is healthy as well
  degraded,  ///< all works, but something is slow, or a part cannot be used
  broken,    ///< no picture can be drawn, or forces are wrong
};

const char* to_string(Health health);

/// The exit status of `orrery info`: 0, 3 or 4.
int exit_status(Health health);

/// A fault and its cure, one sentence each, without the full stop.
struct Finding {
  Health health = Health::healthy;  ///< healthy: worth knowing, and nothing is wrong
  std::string what, cure;           ///< no cure: none is needed
};

/// The gravest first. `bodies`: also whether so many fit into memory.
std::vector<Finding> diagnose(const Symptoms& symptoms, std::optional<std::int64_t> bodies = {});

/// The health of the gravest finding.
Health health_of(const std::vector<Finding>& findings);

}  // namespace orrery
