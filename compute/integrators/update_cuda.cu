#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/launch.h"
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

__global__ void find_body_levels(StepCriterion criterion, float time_step, const Vec4* __restrict__ accelerations,
                                 LevelSet kept, int count, Level* __restrict__ levels, int* __restrict__ bodies,
                                 int* __restrict__ counts) {
  __shared__ int in_block[level_count];
  if (threadIdx.x < level_count) in_block[threadIdx.x] = 0;
  __syncthreads();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) {
    const int level = criterion.level(time_step, accelerations[i], kept);
    levels[i] = static_cast<Level>(level);
    bodies[i] = i;
    atomicAdd(&in_block[level], 1);
  }
  __syncthreads();
  if (threadIdx.x < level_count && in_block[threadIdx.x] > 0) {
    atomicAdd(&counts[threadIdx.x], in_block[threadIdx.x]);
  }
}

/// Kernel of BodyLevels::kick_drift(). `origins_low` is only used if Real is double.
template <class Real>
__global__ void update_levels(StateArrays arrays, Vec4* __restrict__ origins, Vec4* __restrict__ origins_low,
                              const Level* __restrict__ levels, int count, Substep now, float drag,
                              NonFiniteCheck check) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  wait_for_kernel_before();
  if (i >= count) return;
  const int level = levels[i];
  const bool active = level >= now.lowest_active();
  const Vec3Of<Real> acceleration = active ? load_acceleration<Real>(arrays, i) : Vec3Of<Real>{};
  StepOrigin origin;
  if (!active) {  // an active body begins a step; before its first step, it has no origin
    origin.position = origins[i];
    if constexpr (uses_low_words<Real>) origin.position_low = origins_low[i];
  }
  update_checked<Real>(arrays, i, {.moves = true, .kicks = active}, check,
                       [&](BodyState& body) { update_body<Real>(now, level, origin, body, acceleration, drag); });
  if (!active) return;
  origins[i] = origin.position;
  if constexpr (uses_low_words<Real>) origins_low[i] = origin.position_low;
}

/// Sorts bodies by level, the deepest first. The sort is stable: bodies of one level stay in their order.
cudaError_t sort_by_level(void* scratch, std::size_t& bytes, const Level* levels, Level* sorted_levels,
                          const int* bodies, int* order, int count, cudaStream_t stream) {
  constexpr int level_bits = 4;
  static_assert(level_count <= 1 << level_bits);
  return cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, levels, sorted_levels, bodies, order, count, 0,
                                                   level_bits, stream);
}

}  // namespace

bool has_code_for(const Device& device) {
  device.activate();
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, update<float>);  // a kernel handle may exist without
                                                                                 // code
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

void BodyLevels::prepare(int count, Digits digits) {
  const std::size_t low_words = low_words_of(count, digits);
  if (this->count() == count && memory_.origins_low.size() == low_words) return;
  memory_ = {};  // frees the old memory before it allocates the new
  device_.activate();
  std::size_t scratch_bytes = 0;
  ORRERY_CUDA_CHECK(
      sort_by_level(nullptr, scratch_bytes, nullptr, nullptr, nullptr, nullptr, count, /*stream=*/nullptr));
  const auto size = static_cast<std::size_t>(count);
  Memory memory{.levels = {device_, size},
                .sorted_levels = {device_, size},
                .bodies = {device_, size},
                .order = {device_, size},
                .origins = {device_, size},
                .origins_low = {device_, low_words},
                .counts = {device_, level_count},
                .counts_here = {device_, level_count, /*pinned=*/true},
                .sort_scratch = {device_, scratch_bytes}};
  memory_ = std::move(memory);
}

void BodyLevels::find_levels(const StepCriterion& criterion, float time_step, const Vec4* d_accelerations,
                             LevelSet kept, cudaStream_t stream) {
  const std::span<int> counts_here = memory_.counts_here.first(level_count);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(memory_.counts.data(), 0, level_count * sizeof(int), stream));
  find_body_levels<<<ceil_div(count(), block), block, 0, stream>>>(criterion, time_step, d_accelerations, kept, count(),
                                                                   memory_.levels.data(), memory_.bodies.data(),
                                                                   memory_.counts.data());
  ORRERY_CUDA_CHECK_LAUNCH(find_body_levels);
  download(memory_.counts.data(), counts_here, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::ranges::copy(counts_here, counts_.begin());
}

int BodyLevels::assign(const StepCriterion& criterion, float time_step, const Vec4* d_accelerations,
                       cudaStream_t stream) {
  find_levels(criterion, time_step, d_accelerations, every_level, stream);
  find_levels(criterion, time_step, d_accelerations, kept_levels(counts_), stream);
  std::size_t scratch_bytes = memory_.sort_scratch.size();
  ORRERY_CUDA_CHECK(sort_by_level(memory_.sort_scratch.data(), scratch_bytes, memory_.levels.data(),
                                  memory_.sorted_levels.data(), memory_.bodies.data(), memory_.order.data(), count(),
                                  stream));
  return deepest_of(counts_);
}

void BodyLevels::kick_drift(const Substep& now, const StateArrays& arrays, float drag, const NonFiniteCheck& check,
                            cudaStream_t stream) const {
  visit_precision(arrays, [&]<class Real>(Real) {
    launch_dependent(device_, update_levels<Real>, ceil_div(count(), block), block, 0, stream, arrays,
                     memory_.origins.data(), memory_.origins_low.data(), memory_.levels.data(), count(), now, drag,
                     check);
  });
}

}  // namespace orrery::cuda
