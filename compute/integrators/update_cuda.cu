#include "compute/cuda/dependent_launch.h"
#include "compute/integrators/checked_update.h"
#include "compute/integrators/update.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;

__global__ void update(Vec4* __restrict__ positions, Vec4* __restrict__ velocities,
                       const Vec4* __restrict__ accelerations, int count, float kick_dt, float drag, float drift_dt,
                       NonFiniteCheck check) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  wait_for_kernel_before();
  if (i >= count) return;
  const Vec4 acceleration = kick_dt != 0 ? accelerations[i] : Vec4{};
  update_checked(positions, velocities, i, /*kicks=*/kick_dt != 0, check, [&](Vec4& position, Vec4& velocity) {
    kick_drift_body(position, velocity, acceleration, kick_dt, drag, drift_dt);
  });
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
