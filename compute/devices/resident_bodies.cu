#include "compute/cuda/launch.h"
#include "compute/devices/resident_bodies.h"
#include "compute/integrators/update_cuda.h"

namespace orrery {
namespace {

constexpr int block = 256;

__global__ void number(int* ids, int count, int first) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) ids[i] = first + i;
}

__global__ void write_to_places(const ResidentBodies bodies, Vec4* positions, Vec4* velocities, Vec4* accelerations) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i >= bodies.count) return;
  const int place = bodies.ids[i];
  if (positions) positions[place] = bodies.positions[i];
  if (velocities) velocities[place] = bodies.velocities[i];
  if (accelerations && bodies.accelerations) accelerations[place] = bodies.accelerations[i];
}

__global__ void write_owner(const int* ids, int count, int owner, int* owners) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) owners[ids[i]] = owner;
}

__global__ void join(const __grid_constant__ OnAll<const cuda::PackedFinding> all, const cuda::NonFiniteReport report) {
  unsigned long long least = report.d_first->bits;
  for (int i = 0; i < all.devices; ++i) least = min(least, all.of[i]->bits);
  report.d_first->bits = least;
  if (report.seen && least != cuda::PackedFinding{}.bits) *report.seen = 1;
}

}  // namespace

void set_ids(const ResidentBodies& bodies, int first, cudaStream_t stream) {
  number<<<cuda::ceil_div(bodies.count, block), block, 0, stream>>>(bodies.ids, bodies.count, first);
  ORRERY_CUDA_CHECK_LAUNCH(number);
}

void set_owner(const ResidentBodies& bodies, int owner, int* owners, cudaStream_t stream) {
  write_owner<<<cuda::ceil_div(bodies.count, block), block, 0, stream>>>(bodies.ids, bodies.count, owner, owners);
  ORRERY_CUDA_CHECK_LAUNCH(write_owner);
}

void gather_bodies(const ResidentBodies& bodies, Vec4* positions, Vec4* velocities, Vec4* accelerations,
                   cudaStream_t stream) {
  write_to_places<<<cuda::ceil_div(bodies.count, block), block, 0, stream>>>(bodies, positions, velocities,
                                                                             accelerations);
  ORRERY_CUDA_CHECK_LAUNCH(write_to_places);
}

void kick_drift_residents(const cuda::Device& device, const ResidentBodies& bodies, const cuda::KickDrift& pass,
                          const cuda::NonFiniteCheck& check, cudaStream_t stream) {
  cuda::NonFiniteCheck of_held = check;
  of_held.report.ids = bodies.ids;
  cuda::kick_drift(
      device, {.positions = bodies.positions, .velocities = bodies.velocities, .accelerations = bodies.accelerations},
      bodies.count, pass, of_held, stream);
}

void check_residents(const ResidentBodies& bodies, const cuda::NonFiniteReport& report, std::uint32_t pass,
                     cudaStream_t stream) {
  cuda::check_finite(bodies.positions, bodies.velocities, bodies.count,
                     {.d_first = report.d_first, .seen = report.seen, .ids = bodies.ids}, pass, stream);
}

void reduce_findings(const OnAll<const cuda::PackedFinding>& all, const cuda::NonFiniteReport& report,
                     cudaStream_t stream) {
  join<<<1, 1, 0, stream>>>(all, report);
  ORRERY_CUDA_CHECK_LAUNCH(join);
}

}  // namespace orrery
