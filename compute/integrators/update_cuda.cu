#include "compute/cuda/launch.h"
#include "compute/integrators/update.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;

__global__ void update(Vec4* __restrict__ positions, Vec4* __restrict__ velocities,
                       const Vec4* __restrict__ accelerations, int count, float kick_dt, float drag, float drift_dt) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  Vec4 position = positions[i], velocity = velocities[i];
  const Vec4 acceleration = kick_dt != 0 ? accelerations[i] : Vec4{};
  kick_drift_body(position, velocity, acceleration, kick_dt, drag, drift_dt);
  positions[i] = position;
  if (kick_dt != 0) velocities[i] = velocity;
}

}  // namespace

void require_code() {
  cudaFuncAttributes attributes{};
  ORRERY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, update));
}

void kick_drift(Vec4* d_positions, Vec4* d_velocities, const Vec4* d_accelerations, int count, float kick_dt,
                float drag, float drift_dt, cudaStream_t stream) {
  update<<<ceil_div(count, block), block, 0, stream>>>(d_positions, d_velocities, d_accelerations, count, kick_dt, drag,
                                                       drift_dt);
  ORRERY_CUDA_CHECK_LAUNCH(update);
}

}  // namespace orrery::cuda
