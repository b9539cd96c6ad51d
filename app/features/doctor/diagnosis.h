#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/gl_report.h"
#include "compute/sim/backends.h"

namespace orrery {

/// Result of a test: a kernel computes a few forces, which are compared with a double-precision sum.
struct KernelTrial {
  std::string kernel{};
  std::string failure{};  ///< one line; empty: the forces are accurate enough
};

/// Facts that show whether a machine can use all functions of the program.
struct Symptoms {
  bool nvidia_gpu = false;  ///< the machine has one, whether or not CUDA can use it
  bool has_gpu = false;     ///< the machine has a GPU of any maker
  bool cuda_runs = false;
  std::string cuda_reason{};          ///< why CUDA does not run, and how to fix that
  std::string nvml_problem{};         ///< why the GPU's clocks and power are unknown; empty: they are known
  bool profiling_is_refused = false;  ///< the driver reserves performance counters for root, and the user is not root
  GlReport gl{};
  std::string display{};  ///< display of X11 or Wayland, such as ":0"; empty if the environment names none
  bool in_wsl = false;
  bool has_avx2 = true;
  int hardware_threads = 1;       ///< threads that the process was started with; if MPI ranks divide them, this rank's
  int kernel_threads = 1;         ///< threads that a kernel gets if it asks for all hardware_threads
  bool is_bound_rank = false;     ///< mpirun gives this rank only some of the threads
  std::string openmp_settings{};  ///< variables that may take threads from kernels: "OMP_PROC_BIND and OMP_PLACES"
  bool fewer_openmp_threads = false;  ///< OMP_DYNAMIC: OpenMP starts fewer threads on a busy machine
  std::string busy_waiting{};  ///< setting with which idle OpenMP threads keep their cores; empty if there is none
  std::int64_t bodies_that_fit = 0;              ///< number of bodies that fit into the free main memory
  std::optional<std::size_t> free_gpu_memory{};  ///< bytes; none without CUDA
  std::vector<KernelTrial> trials{};
};

/// Bytes of GPU memory per body, with its share of a tree and of the picture. Direct sums without a window need less.
inline constexpr std::int64_t gpu_bytes_per_body = 1024;

/// Examines the machine, and tests one kernel of each backend that runs.
Symptoms symptoms(const Backends& backends, const GlReport& gl);

enum class Health {
  healthy,   ///< no fault; a machine without a GPU is healthy as well
  degraded,  ///< the program works, but something is slow or cannot be used
  broken,    ///< no picture can be drawn, or forces are wrong
};

const char* to_string(Health health);

/// Returns the exit status of `orrery info`: 0 healthy, 3 degraded, 4 broken.
int exit_status(Health health);

/// A fault and its cure, one sentence each, without the full stop.
struct Finding {
  Health health = Health::healthy;  ///< healthy: a remark, not a fault
  std::string what, cure;           ///< cure: may be empty
};

/// Returns the findings, the most severe first. `bodies`: also reports whether this number of bodies fits into memory.
std::vector<Finding> diagnose(const Symptoms& symptoms, std::optional<std::int64_t> bodies = {});

/// Returns the health of the most severe finding; healthy if there is none.
Health health_of(const std::vector<Finding>& findings);

}  // namespace orrery
