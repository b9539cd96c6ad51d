// Finds what is wrong with a machine, and how to fix it.
#include "app/features/doctor/diagnosis.h"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <system_error>

#include "app/lab/force_promise.h"
#include "app/lab/variants.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"
#if ORRERY_HAVE_CUDA
#include "compute/cuda/device.h"
#include "compute/cuda/nvml.h"
#endif

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<Finding>;

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
  constexpr const char* display_class = "0x03";  // PCI class of GPUs, with or without a display output
  std::error_code none;
  for (const auto& device : fs::directory_iterator{"/sys/bus/pci/devices", none}) {
    if (text_of(device.path() / "vendor").starts_with(nvidia) &&
        text_of(device.path() / "class").starts_with(display_class)) {
      return true;
    }
  }
  return fs::exists("/dev/nvidiactl", none);  // a container may hide the PCI bus
}

/// Returns whether the operating system has a driver for some GPU.
bool has_render_node() {
  std::error_code none;
  for (const auto& node : fs::directory_iterator{"/dev/dri", none}) {
    if (node.path().filename().string().starts_with("renderD")) return true;
  }
  return false;
}

/// Returns the number of processors that a process may run on; 0: unknown.
int processors_of(pid_t process) {
  cpu_set_t set;
  return sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// Returns the number of hardware threads that this process was started with: those of its parent. OpenMP's library may
/// have bound this process to fewer.
int hardware_threads() {
  return std::max(processors_of(getppid()), usable_threads());
}

/// Returns how many threads kernels get if they ask for `threads`. OpenMP may start fewer threads or bind them to fewer
/// processors. Other kernels start their threads from this thread, and are bound to its processors.
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

/// Returns the OpenMP variables in the environment that can take threads from kernels, joined by "and". Ignores
/// OMP_NUM_THREADS, because each kernel sets its own number.
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

constexpr std::int64_t million = 1 << 20;

bool draws_in_software(const std::string& renderer) {
  return std::ranges::any_of(std::initializer_list<const char*>{"llvmpipe", "softpipe", "swrast", "SWR"},
                             [&](const char* name) { return renderer.find(name) != std::string::npos; });
}

/// Returns whether the display is on another machine: X11 through ssh, or a remote X server.
bool is_remote(const std::string& display) {
  const std::size_t colon = display.find(':');
  return colon != std::string::npos && colon > 0 && !display.starts_with("wayland") && !display.starts_with("unix");
}

void check_kernels(const Symptoms& s, Findings& findings) {
  for (const auto& [kernel, failure] : s.trials) {
    if (failure.empty()) continue;
    findings.push_back({Health::broken, fmt::format("{} does not compute its forces: {}", kernel, failure),
                        "update the driver; if that does not help, report it with the output of `orrery info --json`"});
  }
}

void check_cuda(const Symptoms& s, Findings& findings) {
  if (s.cuda_runs) return;
  if (s.nvidia_gpu) {
    findings.push_back({Health::degraded, "CUDA cannot use the NVIDIA GPU of this machine", s.cuda_reason});
  } else if (s.in_wsl) {
    findings.push_back(
        {Health::healthy, "CUDA finds no GPU in WSL: CPU kernels run alone",
         "with an NVIDIA GPU, install its driver on Windows, none in WSL, and the CUDA toolkit for WSL"});
  } else {
    findings.push_back({Health::healthy, "There is no NVIDIA GPU: CPU kernels run alone", {}});
  }
}

std::string cure_of_software_drawing(const Symptoms& s) {
  if (s.in_wsl) return "update WSL and the driver on Windows; GALLIUM_DRIVER=d3d12 selects its OpenGL";
  if (!s.nvidia_gpu) return "install the OpenGL driver of the GPU";
  return "install the OpenGL part of NVIDIA's driver; on a laptop with two GPUs, start with "
         "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia";
}

void check_drawing(const Symptoms& s, Findings& findings) {
  if (!s.gl.problem.empty()) {
    findings.push_back({Health::broken, "No picture can be drawn: " + s.gl.problem, s.gl.cure});
    return;
  }
  const std::string& renderer = s.gl.window_renderer.empty() ? s.gl.renderer : s.gl.window_renderer;
  if (draws_in_software(renderer) && !s.has_gpu && !s.in_wsl) {
    findings.push_back(
        {Health::healthy, fmt::format("There is no GPU: OpenGL draws on the CPU, slowly ({})", renderer), {}});
  } else if (draws_in_software(renderer)) {
    findings.push_back(
        {Health::degraded, fmt::format("OpenGL draws on the CPU ({})", renderer), cure_of_software_drawing(s)});
  } else if (s.cuda_runs && !s.gl.interop_reason.empty()) {
    findings.push_back({Health::degraded, s.gl.interop_reason, s.gl.cure});
  }
}

void check_display(const Symptoms& s, Findings& findings) {
  if (s.display.empty()) {
    findings.push_back({Health::degraded, "There is no display: no window can be opened",
                        "`--offscreen` and `render` draw without one; for a window, set DISPLAY to an X server"});
  } else if (!s.gl.window_problem.empty()) {
    const auto says = [&](const char* words) { return s.gl.window_problem.find(words) != std::string::npos; };
    findings.push_back({Health::degraded, "No window can be opened: " + s.gl.window_problem,
                        says("Wayland alone") ? "start XWayland, or use `--offscreen`"
                        : !says("Failed to open display")
                            ? "update the graphics driver, or use `--offscreen`"
                            : fmt::format("start an X server for the display {} and let this user in, or set "
                                          "DISPLAY to one that runs; `--offscreen` and `render` need none",
                                          s.display)});
  } else if (is_remote(s.display)) {
    findings.push_back({Health::degraded,
                        fmt::format("The display {} is on another machine: pictures travel to it", s.display),
                        "use `render` there and copy the film, or a remote desktop such as VirtualGL with TurboVNC"});
  }
}

std::string cure_of_few_threads(const Symptoms& s) {
  if (!s.openmp_settings.empty()) return "unset " + s.openmp_settings;
  if (s.is_bound_rank) return "let the ranks divide all of them: mpirun --bind-to none";
  return "start it without what limits its processors, such as taskset";
}

void check_processor(const Symptoms& s, Findings& findings) {
  if (!s.has_avx2) {
    findings.push_back({Health::degraded, "The processor has no AVX2: CPU kernels compute fewer pairs at once",
                        "in a virtual machine, pass the host's processor type through"});
  }
  if (s.kernel_threads < s.hardware_threads) {
    findings.push_back({Health::degraded,
                        fmt::format("CPU kernels get {} of {} hardware threads", s.kernel_threads, s.hardware_threads),
                        cure_of_few_threads(s)});
  } else if (s.fewer_openmp_threads) {
    findings.push_back(
        {Health::degraded, "OMP_DYNAMIC gives kernels fewer threads the busier the machine was", "unset it"});
  }
  if (!s.busy_waiting.empty()) {
    findings.push_back(
        {Health::degraded, s.busy_waiting + " lets idle threads of OpenMP take cores from the window", "unset it"});
  }
}

/// Reports whether `asked` bodies fit into memory. Without `asked`, reports only if a million bodies do not fit.
void check_memory(const Symptoms& s, std::optional<std::int64_t> asked, Findings& findings) {
  const std::string cure = "end other programs, or use fewer bodies (-n 16k)";
  const std::int64_t bodies = asked.value_or(million);
  const std::string named = asked ? counted_bodies(bodies) : "a million bodies";
  bool fit = true;
  if (s.bodies_that_fit < bodies) {
    fit = false;
    findings.push_back(
        {Health::degraded,
         fmt::format("No more than {} fit into the free memory of the machine", counted_bodies(s.bodies_that_fit)),
         cure});
  }
  if (s.free_gpu_memory && static_cast<std::int64_t>(*s.free_gpu_memory) / gpu_bytes_per_body < bodies) {
    fit = false;
    findings.push_back(
        {Health::degraded,
         fmt::format("The GPU has {} MiB of free memory: {} may not fit", *s.free_gpu_memory >> 20, named), cure});
  }
  if (asked && fit) {
    findings.push_back(
        {Health::healthy,
         fmt::format("{} fit into the free memory of the machine{}", named, s.free_gpu_memory ? " and of the GPU" : ""),
         {}});
  }
}

void check_measurements(const Symptoms& s, Findings& findings) {
  if (!s.cuda_runs) return;
  if (!s.nvml_problem.empty()) {
    findings.push_back({Health::healthy, "The GPU's clocks and power are unknown: " + s.nvml_problem,
                        "install libnvidia-ml.so.1 of the driver"});
  }
  if (s.profiling_is_refused) {
    findings.push_back({Health::healthy, "The driver lets only root read the GPU's performance counters",
                        "load the module nvidia with NVreg_RestrictProfilingToAdminUsers=0, or profile as root"});
  }
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

const char* to_string(Health health) {
  return health == Health::healthy ? "healthy" : health == Health::degraded ? "degraded" : "broken";
}

int exit_status(Health health) {
  return health == Health::healthy ? 0 : health == Health::degraded ? 3 : 4;
}

std::vector<Finding> diagnose(const Symptoms& symptoms, std::optional<std::int64_t> bodies) {
  Findings findings;
  for (const auto check : {check_kernels, check_drawing, check_cuda, check_display, check_processor}) {
    check(symptoms, findings);
  }
  check_memory(symptoms, bodies, findings);
  check_measurements(symptoms, findings);
  std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::health);
  return findings;
}

Health health_of(const std::vector<Finding>& findings) {
  return findings.empty() ? Health::healthy : findings.front().health;
}

}  // namespace orrery
