#include "compute/cuda/dependent_launch.h"
#include "compute/integrators/update.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;

/// Whether a pass below this one has reported a body. An ordinary load, served by the caches: what is reported while
/// this pass runs may be missed here.
__device__ bool reported_before(const NonFiniteReport& report, std::uint32_t pass) {
  return report.d_first->is_before(pass);
}

__device__ void put(const NonFiniteReport& report, const PackedFinding& here) {
  if (atomicMin(&report.d_first->bits, here.bits) > here.bits) *report.seen = 1;
}

__global__ void update(Vec4* __restrict__ positions, Vec4* __restrict__ velocities,
                       const Vec4* __restrict__ accelerations, int count, float kick_dt, float drag, float drift_dt,
                       NonFiniteCheck check) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  wait_for_kernel_before();
  if (i >= count) return;
  // All that is loaded is needed whether or not the bodies are frozen, so that no load waits for another.
  const bool frozen = reported_before(check.report, check.before);
  const Vec4 position_before = positions[i], velocity_before = velocities[i];
  const Vec4 acceleration = kick_dt != 0 ? accelerations[i] : Vec4{};
  Vec4 position = position_before, velocity = velocity_before;
  kick_drift_body(position, velocity, acceleration, kick_dt, drag, drift_dt);
  positions[i] = frozen ? position_before : position;
  if (kick_dt != 0) velocities[i] = frozen ? velocity_before : velocity;
  if (!frozen && !is_finite(position, velocity)) {
    put(check.report, {is_finite(position_before, velocity_before) ? check.after : check.before, i});
  }
}

__global__ void look(const Vec4* __restrict__ positions, const Vec4* __restrict__ velocities, int count,
                     NonFiniteReport report, std::uint32_t pass) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || reported_before(report, pass)) return;
  if (!is_finite(positions[i], velocities[i])) put(report, {pass, i});
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
                float kick_dt, float drag, float drift_dt, const NonFiniteCheck& check, cudaStream_t stream) {
  launch_dependent(device, update, ceil_div(count, block), block, 0, stream, d_positions, d_velocities, d_accelerations,
                   count, kick_dt, drag, drift_dt, check);
}

void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const NonFiniteReport& report,
                  std::uint32_t pass, cudaStream_t stream) {
  look<<<ceil_div(count, block), block, 0, stream>>>(d_positions, d_velocities, count, report, pass);
  ORRERY_CUDA_CHECK_LAUNCH(look);
}

}  // namespace orrery::cuda
