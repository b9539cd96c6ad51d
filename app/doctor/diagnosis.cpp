#include "app/doctor/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "compute/core/text.h"

namespace orrery {
namespace {

using Findings = std::vector<Finding>;

constexpr std::int64_t million = 1 << 20;

bool draws_in_software(const std::string& renderer) {
  return std::ranges::any_of(std::initializer_list<const char*>{"llvmpipe", "softpipe", "swrast", "SWR"},
                             [&](const char* name) { return renderer.find(name) != std::string::npos; });
}

/// X11 through ssh, or an X server of another machine.
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

/// For `asked` bodies, or else a million.
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
