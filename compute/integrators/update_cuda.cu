#include "compute/cuda/dependent_launch.h"
#include "compute/integrators/update.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;

/// Whether a pass below this one has told of a fault. An ordinary load, served by the caches: what passes tell while
/// this one runs may be missed here.
__device__ bool faulty_before(const FaultReport& report, std::uint32_t pass) {
  return *report.d_first >> 32 < pass;
}

__device__ void tell(const FaultReport& report, std::uint32_t pass, int body) {
  const unsigned long long here = static_cast<unsigned long long>(pass) << 32 | static_cast<unsigned>(body);
  if (atomicMin(report.d_first, here) > here) *report.seen = 1;
}

__global__ void update(Vec4* __restrict__ positions, Vec4* __restrict__ velocities,
                       const Vec4* __restrict__ accelerations, int count, float kick_dt, float drag, float drift_dt,
                       FaultCheck check) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  wait_for_kernel_before();
  if (i >= count) return;
  // All that is loaded is needed whether or not the bodies are frozen, so that no load waits for another.
  const bool frozen = faulty_before(check.report, check.before);
  const Vec4 position_before = positions[i], velocity_before = velocities[i];
  const Vec4 acceleration = kick_dt != 0 ? accelerations[i] : Vec4{};
  Vec4 position = position_before, velocity = velocity_before;
  kick_drift_body(position, velocity, acceleration, kick_dt, drag, drift_dt);
  positions[i] = frozen ? position_before : position;
  if (kick_dt != 0) velocities[i] = frozen ? velocity_before : velocity;
  if (!frozen && !is_finite(position, velocity)) {
    tell(check.report, is_finite(position_before, velocity_before) ? check.after : check.before, i);
  }
}

__global__ void look(const Vec4* __restrict__ positions, const Vec4* __restrict__ velocities, int count,
                     FaultReport report, std::uint32_t pass) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || faulty_before(report, pass)) return;
  if (!is_finite(positions[i], velocities[i])) tell(report, pass, i);
}

}  // namespace

bool has_code_for(const Device& device) {
  device.activate();
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, update);  // a handle may be had without code
  if (status != cudaErrorNoKernelImageForDevice) check(status, "cudaFuncGetAttributes");
  (void)cudaGetLastError();
  return status == cudaSuccess;
}

void kick_drift(const Device& device, Vec4* d_positions, Vec4* d_velocities, const Vec4* d_accelerations, int count,
                float kick_dt, float drag, float drift_dt, const FaultCheck& check, cudaStream_t stream) {
  launch_dependent(device, update, ceil_div(count, block), block, 0, stream, d_positions, d_velocities, d_accelerations,
                   count, kick_dt, drag, drift_dt, check);
}

void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const FaultReport& report,
                  std::uint32_t pass, cudaStream_t stream) {
  look<<<ceil_div(count, block), block, 0, stream>>>(d_positions, d_velocities, count, report, pass);
  ORRERY_CUDA_CHECK_LAUNCH(look);
}

}  // namespace orrery::cuda
