#include "app/doctor/symptoms.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "app/lab/force_promise.h"
#include "app/lab/variant_runner.h"
#include "app/lab/variants.h"
#include "compute/core/host_memory.h"
#include "compute/core/threads.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/cuda/nvml.h"
#endif

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

bool has_nvidia_gpu() {
  constexpr const char* nvidia = "0x10de";
  constexpr const char* display_class = "0x03";  // the PCI class of GPUs, also of those without a display
  std::error_code none;
  for (const auto& device : fs::directory_iterator{"/sys/bus/pci/devices", none}) {
    if (text_of(device.path() / "vendor").starts_with(nvidia) &&
        text_of(device.path() / "class").starts_with(display_class)) {
      return true;
    }
  }
  return fs::exists("/dev/nvidiactl", none);  // a container may hide the bus
}

/// The kernel of the system has a driver for some GPU.
bool has_render_node() {
  std::error_code none;
  for (const auto& node : fs::directory_iterator{"/dev/dri", none}) {
    if (node.path().filename().string().starts_with("renderD")) return true;
  }
  return false;
}

/// How many processors a process may run on; 0: unknown.
int processors_of(pid_t process) {
  cpu_set_t set;
  return sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// Those that this process was started with: OpenMP's library may have bound it to fewer since.
int hardware_threads() {
  return std::max(processors_of(getppid()), usable_threads());
}

/// What kernels get that ask for `threads`: OpenMP's threads that come and the processors that these may use, and the
/// processors of this thread, which starts the threads of all other kernels.
int kernel_threads(int threads) {
  int came = 0;
  cpu_set_t all;
  CPU_ZERO(&all);
#pragma omp parallel num_threads(threads)
#pragma omp critical
  {
    cpu_set_t own;
    ++came;
    if (sched_getaffinity(0, sizeof own, &own) == 0) CPU_OR(&all, &all, &own);
  }
  return std::min({came, CPU_COUNT(&all), usable_threads()});
}

/// Those that the environment has and that take threads from kernels, with "and" between. OMP_NUM_THREADS does not:
/// each kernel asks for its own number.
std::string openmp_settings() {
  std::string set = omp_get_dynamic() ? "OMP_DYNAMIC" : "";
  for (const char* name : {"OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
    if (!environment(name).empty()) set += (set.empty() ? "" : " and ") + std::string{name};
  }
  return set;
}

std::string busy_waiting() {
  std::string policy = environment("OMP_WAIT_POLICY");
  std::ranges::transform(policy, policy.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (policy == "active") return "OMP_WAIT_POLICY=active";
  return environment("GOMP_SPINCOUNT") == "infinite" ? "GOMP_SPINCOUNT=infinite" : "";
}

KernelTrial try_kernel(const Backends& backends, const KernelPtr& kernel) {
  constexpr int bodies = 1000;
  KernelTrial trial{.kernel = kernel->id};
  const Problem problem = problem_of([&] {
    VariantRunner runner{backends, {.scene = "plummer", .count = bodies}, [](Simulation&) {}};
    Simulation& simulation = runner.simulation(kernel);
    const std::vector<Vec4> bodies = simulation.bodies().positions;
    const Law law = simulation.status().law;
    const ForceSample expected{bodies, law};
    trial.failure =
        ForcePromise{bodies, expected, law}.judge(*kernel, Settings{*kernel}, simulation.accelerations()).failure;
  });
  if (problem) trial.failure = problem.text;
  return trial;
}

void look_at_cuda(const Backends& backends, Symptoms& s) {
  const BackendStatus& cuda = backends.status(Backend::cuda);
  s.cuda_runs = cuda.available;
  s.cuda_reason = cuda.reason;
  s.nvidia_gpu = cuda.available || has_nvidia_gpu();
  s.has_gpu = s.nvidia_gpu || has_render_node();
#if ORRERY_HAVE_CUDA
  if (!cuda.available) return;
  (void)cuda::gpu_state(backends.device()->ordinal(), &s.nvml_problem);
  s.free_gpu_memory = backends.device()->free_memory();
  const bool for_root = text_of("/proc/driver/nvidia/params").find("RmProfilingAdminOnly: 1") != std::string::npos;
  s.profiling_is_refused = for_root && geteuid() != 0;
#endif
}

}  // namespace

Symptoms symptoms(const Backends& backends, const GlReport& gl) {
  Symptoms s{.gl = gl};
  look_at_cuda(backends, s);
  const std::string wayland = environment("WAYLAND_DISPLAY");
  s.display = wayland.empty() ? environment("DISPLAY") : wayland;
  s.in_wsl = text_of("/proc/version").find("microsoft") != std::string::npos;
  s.has_avx2 = __builtin_cpu_supports("avx2");
  s.hardware_threads = hardware_threads();
  s.kernel_threads = kernel_threads(s.hardware_threads);
  if (backends.kernels().sharing()) {
    constexpr pid_t this_thread = 0;
    s.is_bound_rank = processors_of(this_thread) < s.hardware_threads;
    if (!s.is_bound_rank) s.hardware_threads = s.kernel_threads;
  }
  s.openmp_settings = openmp_settings();
  s.fewer_openmp_threads = omp_get_dynamic() != 0;
  s.busy_waiting = busy_waiting();
  s.bodies_that_fit = bodies_that_fit(simulation_bytes_per_body);
  s.trials.push_back(try_kernel(backends, backends.kernels().find("cpu-simd")));
  if (s.cuda_runs) s.trials.push_back(try_kernel(backends, backends.default_kernel()));
  return s;
}

}  // namespace orrery
