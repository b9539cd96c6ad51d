#include "compute/cuda/dependent_launch.h"
#include "compute/integrators/update.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;

template <class Real>
__global__ void update(StateArrays arrays, int count, KickDrift pass, NonFiniteCheck check) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  wait_for_kernel_before();
  if (i >= count) return;
  const bool owed = pass.owed_kick_dt != 0;
  const bool kicks = owed || pass.kick_dt != 0;
  const Vec3Of<Real> acceleration = kicks ? load_acceleration<Real>(arrays, i) : Vec3Of<Real>{};
  update_checked<Real>(
      arrays, i, {.moves = pass.drift_dt != 0, .kicks = kicks}, check,
      [&](BodyState& body) {
        if (owed) kick_body<Real>(body, acceleration, static_cast<Real>(pass.owed_kick_dt), pass.drag);
      },
      [&](BodyState& body) {
        kick_drift_body<Real>(body, acceleration, static_cast<Real>(pass.kick_dt), pass.drag,
                              static_cast<Real>(pass.drift_dt));
      });
}

__global__ void look(const Vec4* __restrict__ positions, const Vec4* __restrict__ velocities, int count,
                     NonFiniteReport report, std::uint32_t pass) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || reported_before(report, pass)) return;
  if (!is_finite(positions[i], velocities[i])) put(report, {pass, report.number_of(i)});
}

}  // namespace

bool has_code_for(const Device& device) {
  device.activate();
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, update<float>);  // a handle may be had without code
  if (status != cudaErrorNoKernelImageForDevice) check(status, "cudaFuncGetAttributes");
  (void)cudaGetLastError();
  return status == cudaSuccess;
}

void kick_drift(const Device& device, const StateArrays& arrays, int count, const KickDrift& pass,
                const NonFiniteCheck& check, cudaStream_t stream) {
  visit_precision(arrays, [&]<class Real>(Real) {
    launch_dependent(device, update<Real>, ceil_div(count, block), block, 0, stream, arrays, count, pass, check);
  });
}

void check_finite(const Vec4* d_positions, const Vec4* d_velocities, int count, const NonFiniteReport& report,
                  std::uint32_t pass, cudaStream_t stream) {
  look<<<ceil_div(count, block), block, 0, stream>>>(d_positions, d_velocities, count, report, pass);
  ORRERY_CUDA_CHECK_LAUNCH(look);
}

}  // namespace orrery::cuda
