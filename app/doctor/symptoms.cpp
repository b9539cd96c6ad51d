#include "app/doctor/symptoms.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "app/lab/force_sample.h"
#include "app/lab/problem.h"
#include "app/lab/variant_runner.h"
#include "compute/core/host_memory.h"
#include "compute/core/parse_number.h"

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

/// The smallest limit that the environment sets.
int openmp_threads(int hardware_threads) {
  int threads = hardware_threads;
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    const std::string value = environment(name);
    const auto limit = parsed_number<int>(value.substr(0, value.find(',')));
    if (limit && *limit > 0) threads = std::min(threads, *limit);
  }
  return threads;
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
    const ForceSample expected{simulation.bodies().positions, simulation.status().law};
    const ForceError error = expected.error(simulation.accelerations());
    if (!within(error, kernel->tolerance)) trial.failure = fmt::format("the relative error is {:.2g}", error.median);
  });
  if (problem) trial.failure = problem.text;
  return trial;
}

void look_at_cuda(const Backends& backends, Symptoms& s) {
  const BackendStatus& cuda = backends.status(Backend::cuda);
  s.cuda_runs = cuda.available;
  s.cuda_reason = cuda.reason;
  s.nvidia_gpu = cuda.available || has_nvidia_gpu();
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
  s.over_ssh = !environment("SSH_CONNECTION").empty();
  s.in_wsl = text_of("/proc/version").find("microsoft") != std::string::npos;
  s.has_avx2 = __builtin_cpu_supports("avx2");
  s.hardware_threads = static_cast<int>(std::thread::hardware_concurrency());
  s.openmp_threads = openmp_threads(s.hardware_threads);
  s.busy_waiting = busy_waiting();
  s.bodies_that_fit = bodies_that_fit(simulation_bytes_per_body);
  s.trials.push_back(try_kernel(backends, backends.kernels().find("cpu-simd")));
  if (s.cuda_runs) s.trials.push_back(try_kernel(backends, backends.default_kernel()));
  return s;
}

}  // namespace orrery
