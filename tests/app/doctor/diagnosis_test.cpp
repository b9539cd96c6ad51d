// The doctor's findings on machines that are made up.
#include "app/features/doctor/diagnosis.h"

#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

Symptoms healthy_machine() {
  Symptoms s;
  s.nvidia_gpu = s.has_gpu = s.cuda_runs = true;
  s.gl.renderer = s.gl.window_renderer = "NVIDIA H100 80GB HBM3/PCIe/SSE2";
  s.gl.interop = "mapped";
  s.display = ":0";
  s.hardware_threads = s.kernel_threads = 16;
  s.bodies_that_fit = 100'000'000;
  s.free_gpu_memory = std::size_t{64} << 30;
  s.trials = {{.kernel = "cpu-simd"}, {.kernel = "cuda-tiled"}};
  return s;
}

/// The only finding; its words must hold `what` and its cure `cure`.
void expect_one(const Symptoms& s, Health health, const std::string& what, const std::string& cure) {
  const auto findings = diagnose(s);
  ASSERT_EQ(findings.size(), 1u) << findings.back().what;
  EXPECT_EQ(findings[0].health, health);
  EXPECT_EQ(health_of(findings), health);
  expect_holds(findings[0].what, {what});
  expect_holds(findings[0].cure, {cure});
}

TEST(Doctor, FindsNothingWrongWithAHealthyMachine) {
  EXPECT_TRUE(diagnose(healthy_machine()).empty());
  EXPECT_EQ(exit_status(health_of({})), 0);
  EXPECT_EQ(exit_status(Health::degraded), 3);
  EXPECT_EQ(exit_status(Health::broken), 4);
}

TEST(Doctor, NamesWhyCudaDoesNotRun) {
  Symptoms s = healthy_machine();
  s.cuda_runs = false;
  s.cuda_reason = "the NVIDIA driver supports CUDA 11.0 and this build needs 13.0: update the driver";
  expect_one(s, Health::degraded, "CUDA cannot use the NVIDIA GPU", "update the driver");
  s.nvidia_gpu = false;
  expect_one(s, Health::healthy, "no NVIDIA GPU", "");
  s.in_wsl = true;
  expect_one(s, Health::healthy, "WSL", "driver on Windows");
}

TEST(Doctor, FindsNothingWrongWithAMachineWithoutAGpu) {
  Symptoms s = healthy_machine();
  s.nvidia_gpu = s.has_gpu = s.cuda_runs = false;
  s.gl.renderer = s.gl.window_renderer = "llvmpipe (LLVM 15.0.6, 256 bits)";
  const auto findings = diagnose(s);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].what, "There is no GPU: OpenGL draws on the CPU, slowly (llvmpipe (LLVM 15.0.6, 256 bits))");
  EXPECT_EQ(findings[1].what, "There is no NVIDIA GPU: CPU kernels run alone");
  for (const Finding& finding : findings) EXPECT_EQ(finding.cure, "");
  EXPECT_EQ(exit_status(health_of(findings)), 0);
  s.has_gpu = true;
  EXPECT_EQ(health_of(diagnose(s)), Health::degraded) << "a GPU of another maker lacks its driver";
  EXPECT_EQ(diagnose(s)[0].cure, "install the OpenGL driver of the GPU");
}

TEST(Doctor, NamesTheCureOfSlowDrawing) {
  Symptoms s = healthy_machine();
  s.gl.renderer = s.gl.window_renderer = "llvmpipe (LLVM 15.0.6, 256 bits)";
  expect_one(s, Health::degraded, "OpenGL draws on the CPU", "__NV_PRIME_RENDER_OFFLOAD=1");
  s.gl.window_renderer = "Mesa Intel(R) UHD Graphics";
  s.gl.interop_reason = "no CUDA device draws this window: OpenGL runs on another GPU or in software";
  s.gl.cure = "start with __NV_PRIME_RENDER_OFFLOAD=1";
  expect_one(s, Health::degraded, "another GPU", "__NV_PRIME_RENDER_OFFLOAD=1");
}

TEST(Doctor, CallsAMachineWithoutPicturesBroken) {
  Symptoms s = healthy_machine();
  s.gl = {.problem = "no EGL", .cure = "install libegl1"};
  expect_one(s, Health::broken, "No picture can be drawn: no EGL", "libegl1");
}

TEST(Doctor, CallsWrongForcesBrokenAndSaysSoFirst) {
  Symptoms s = healthy_machine();
  s.busy_waiting = "OMP_WAIT_POLICY=active";
  s.trials[1].failure = "the relative error is nan";
  const auto findings = diagnose(s);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].health, Health::broken);
  expect_holds(findings[0].what, {"cuda-tiled"});
  EXPECT_EQ(findings[1].health, Health::degraded);
  EXPECT_EQ(health_of(findings), Health::broken);
}

TEST(Doctor, KnowsDisplaysThatAreMissingBrokenOrFar) {
  Symptoms s = healthy_machine();
  s.display.clear();
  expect_one(s, Health::degraded, "There is no display", "--offscreen");
  s.display = "localhost:10.0";
  expect_one(s, Health::degraded, "on another machine", "render");
  for (const char* const here : {"wayland-0", ":78"}) {
    s.display = here;
    EXPECT_TRUE(diagnose(s).empty());
  }
  s.gl.window_problem = "no display: cannot open a window (X11: Failed to open display :78)";
  expect_one(s, Health::degraded, "Failed to open display :78", "start an X server for the display :78");
  s.gl.window_problem = "no display: cannot open a window (X11). A window needs X11, and Wayland alone has none";
  expect_one(s, Health::degraded, "No window can be opened", "start XWayland");
  s.gl.window_problem = "cannot open a window with OpenGL on this display";
  expect_one(s, Health::degraded, "cannot open a window", "update the graphics driver");
}

TEST(Doctor, KnowsWhatSlowsCpuKernels) {
  Symptoms s = healthy_machine();
  s.has_avx2 = false;
  expect_one(s, Health::degraded, "AVX2", "virtual machine");
  s = healthy_machine();
  s.kernel_threads = 1;
  expect_one(s, Health::degraded, "1 of 16 hardware threads", "taskset");
  s.is_bound_rank = true;
  expect_one(s, Health::degraded, "1 of 16 hardware threads", "mpirun --bind-to none");
  s.openmp_settings = "OMP_PROC_BIND";
  expect_one(s, Health::degraded, "1 of 16 hardware threads", "unset OMP_PROC_BIND");
  s = healthy_machine();
  s.fewer_openmp_threads = true;
  expect_one(s, Health::degraded, "OMP_DYNAMIC", "unset");
  s = healthy_machine();
  s.busy_waiting = "OMP_WAIT_POLICY=active";
  expect_one(s, Health::degraded, "OMP_WAIT_POLICY=active", "unset");
}

TEST(Doctor, KnowsWhenMemoryIsScarce) {
  Symptoms s = healthy_machine();
  s.bodies_that_fit = 500'000;
  expect_one(s, Health::degraded, "500,000 bodies", "-n 16k");
  s = healthy_machine();
  s.free_gpu_memory = std::size_t{100} << 20;
  expect_one(s, Health::degraded, "100 MiB", "end other programs");
}

TEST(Doctor, SaysWhetherTheBodiesFitThatWereAskedFor) {
  Symptoms s = healthy_machine();
  const auto said = [&](std::int64_t bodies) {
    const auto findings = diagnose(s, bodies);
    EXPECT_EQ(findings.size(), 1u);
    return findings.at(0);
  };
  EXPECT_EQ(said(60'000'000).what, "60,000,000 bodies fit into the free memory of the machine and of the GPU");
  EXPECT_EQ(said(60'000'000).health, Health::healthy);
  EXPECT_EQ(said(70'000'000).what, "The GPU has 65536 MiB of free memory: 70,000,000 bodies may not fit");
  EXPECT_EQ(said(70'000'000).health, Health::degraded);
  s.free_gpu_memory.reset();
  EXPECT_EQ(said(101'000'000).what, "No more than 100,000,000 bodies fit into the free memory of the machine");
  EXPECT_EQ(said(1000).what, "1,000 bodies fit into the free memory of the machine");
}

TEST(Doctor, CallsMissingMeasurementsNoFault) {
  Symptoms s = healthy_machine();
  s.nvml_problem = "libnvidia-ml.so.1: cannot open shared object file";
  expect_one(s, Health::healthy, "libnvidia-ml.so.1", "libnvidia-ml.so.1");
  s = healthy_machine();
  s.profiling_is_refused = true;
  expect_one(s, Health::healthy, "performance counters", "NVreg_RestrictProfilingToAdminUsers=0");
}

TEST(Doctor, TriesAKernelOfEachBackendThatRuns) {
  const Symptoms s = symptoms(backends(), {});
  ASSERT_FALSE(s.trials.empty());
  for (const KernelTrial& trial : s.trials) EXPECT_EQ(trial.failure, "") << trial.kernel;
  EXPECT_EQ(s.trials.size(), s.cuda_runs ? 2u : 1u);
  EXPECT_GT(s.bodies_that_fit, 0);
  EXPECT_GT(s.hardware_threads, 0);
}

}  // namespace
}  // namespace orrery::test
