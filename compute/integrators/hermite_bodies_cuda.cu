#include <algorithm>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/cuda/dependent_launch.h"
#include "compute/cuda/launch.h"
#include "compute/integrators/hermite_bodies_cuda.h"
#include "compute/integrators/update_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int hermite_block = 128;
constexpr int listed = level_count;  // index of the number of listed bodies, after the counts of levels

__device__ __forceinline__ int thread_index() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

template <class Real>
__global__ void start_bodies(StateArrays arrays, int count, HermiteBody* __restrict__ bodies) {
  const int i = thread_index();
  if (i < count) bodies[i] = {.body = precise(load_body<Real>(arrays, i)), .pull = {}};
}

__global__ void copy_begin(const HermiteBody* __restrict__ bodies, int count, PreciseBody* __restrict__ predicted) {
  const int i = thread_index();
  if (i < count) predicted[i] = bodies[i].body;
}

__global__ void take_pulls(HermiteBody* __restrict__ bodies, const Pull* __restrict__ pulls, int count,
                           StepCriterion criterion, float drag) {
  const int i = thread_index();
  if (i >= count) return;
  HermiteBody body = bodies[i];
  body.pull = pulls[i];
  add_drag(body.pull, body.body, drag);
  body.longest_step = first_longest_step(body.pull, criterion);
  bodies[i] = body;
}

/// Gives each body its level and counts the bodies of each level. `counts` must be 0.
__global__ void begin_levels(const HermiteBody* __restrict__ bodies, int count, float time_step,
                             Level* __restrict__ levels, int* __restrict__ counts) {
  __shared__ int in_block[level_count];
  if (threadIdx.x < level_count) in_block[threadIdx.x] = 0;
  __syncthreads();
  if (const int i = thread_index(); i < count) {
    const int level = StepCriterion::level_of(time_step, bodies[i].longest_step);
    levels[i] = static_cast<Level>(level);
    atomicAdd(&in_block[level], 1);
  }
  __syncthreads();
  if (threadIdx.x < level_count && in_block[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], in_block[threadIdx.x]);
}

/// Predicts all bodies at `now`, and lists the active ones if `active` is not null. All threads of the block must call
/// this. `levels`: null if all steps are shared.
__device__ void predict_at(const Substep& now, const HermiteBody* __restrict__ bodies, const Level* __restrict__ levels,
                           int count, PreciseBody* __restrict__ predicted, int* __restrict__ active,
                           int* __restrict__ counts) {
  __shared__ int in_block, first;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  const int i = thread_index();
  int place = -1;
  if (i < count) {
    const int level = levels ? levels[i] : 0;
    predicted[i] = orrery::predicted(bodies[i], own_time(now, level));
    if (active && level >= now.lowest_active()) place = atomicAdd(&in_block, 1);
  }
  if (!active) return;
  __syncthreads();
  if (threadIdx.x == 0 && in_block > 0) first = atomicAdd(&counts[listed], in_block);
  __syncthreads();
  if (place >= 0) active[first + place] = i;
}

__global__ void predict_bodies(const HermiteBody* __restrict__ bodies, const Level* __restrict__ levels, int count,
                               Substep now, PreciseBody* __restrict__ predicted, int* __restrict__ active,
                               int* __restrict__ counts) {
  wait_for_kernel_before();
  predict_at(now, bodies, levels, count, predicted, active, counts);
}

__device__ Substep substep(float time_step, int number) {
  return {.time_step = time_step, .deepest = most_level, .number = number};
}

/// Returns the moment after `before`, given the number of bodies at each level.
__device__ HermiteMoment moment_after(const HermiteMoment& before, float time_step, const int* counts) {
  Substep now = substep(time_step, before.number);
  if (now.number >= now.last()) return {before.number, 0};
  int deepest = most_level;
  while (deepest > 0 && counts[deepest] == 0) --deepest;
  now.number += 1 << (most_level - deepest);
  int active = 0;
  for (int level = now.lowest_active(); level < level_count; ++level) active += counts[level];
  return {now.number, active};
}

/// Predicts as predict_bodies(), at the moment after `before`, and stores that moment in `here`.
__global__ void predict_next_bodies(const HermiteBody* __restrict__ bodies, const Level* __restrict__ levels, int count,
                                    float time_step, const HermiteMoment* __restrict__ before, HermiteMoment* here,
                                    PreciseBody* __restrict__ predicted, int* __restrict__ active, int* counts) {
  __shared__ HermiteMoment now;
  wait_for_kernel_before();
  if (threadIdx.x == 0) now = moment_after(*before, time_step, counts);
  __syncthreads();
  if (thread_index() == 0) *here = now;
  if (now.active > 0) predict_at(substep(time_step, now.number), bodies, levels, count, predicted, active, counts);
}

/// Corrects the active body active[place], or body `place` if `active` is null because all bodies are active.
__device__ void correct_at(const Substep& now, int place, HermiteBody* __restrict__ bodies,
                           const PreciseBody* __restrict__ predicted, const Pull* __restrict__ pulls,
                           const int* __restrict__ active, Level* __restrict__ levels, const Correction& how,
                           int* __restrict__ counts) {
  const int i = active ? active[place] : place;
  const int level = levels ? levels[i] : 0;
  HermiteBody body = bodies[i];
  const int next = correct_body(body, predicted[i], pulls[i], now, level, how);
  bodies[i] = body;
  if (!levels || next == level) return;
  levels[i] = static_cast<Level>(next);
  atomicSub(&counts[level], 1);
  atomicAdd(&counts[next], 1);
}

/// Corrects the active bodies. Resets the number of listed bodies for the next list.
__global__ void correct_bodies(HermiteBody* __restrict__ bodies, const PreciseBody* __restrict__ predicted,
                               const Pull* __restrict__ pulls, const int* __restrict__ active, int active_count,
                               Level* __restrict__ levels, Substep now, Correction how, int* __restrict__ counts) {
  const int place = thread_index();
  wait_for_kernel_before();
  if (place == 0) counts[listed] = 0;
  if (place < active_count) correct_at(now, place, bodies, predicted, pulls, active, levels, how, counts);
}

/// Corrects the active bodies at a moment that predict_next_bodies() found.
__global__ void correct_next_bodies(HermiteBody* __restrict__ bodies, const PreciseBody* __restrict__ predicted,
                                    const Pull* __restrict__ pulls, const int* __restrict__ active,
                                    const HermiteMoment* __restrict__ here, Level* __restrict__ levels, float time_step,
                                    Correction how, int* __restrict__ counts) {
  const int place = thread_index();
  wait_for_kernel_before();
  if (place == 0) counts[listed] = 0;
  const HermiteMoment now = *here;
  if (place >= now.active) return;
  correct_at(substep(time_step, now.number), place, bodies, predicted, pulls, active, levels, how, counts);
}

template <class Real>
__global__ void write_bodies(const HermiteBody* __restrict__ bodies, int count, StateArrays arrays,
                             Vec4* __restrict__ accelerations, NonFiniteCheck check) {
  const int i = thread_index();
  wait_for_kernel_before();
  if (i >= count) return;
  const PreciseBody body = bodies[i].body;
  update_checked<Real>(arrays, i, {}, check, [&](BodyState& state) { split(body, state); });
  accelerations[i] = stored(bodies[i].pull.acceleration);
}

}  // namespace

void HermiteBodies::prepare(int count) {
  if (this->count() == count) return;
  forget();  // frees the old memory before it allocates the new
  const auto size = static_cast<std::size_t>(count);
  const std::size_t bytes = size * bytes_per_body;
  if (bytes > device_.free_memory()) {
    throw UsageError("the Hermite integrators need " + std::to_string(bytes >> 20) +
                     " MiB for bodies in double, more than the GPU has free; choose another integrator");
  }
  Memory memory{.bodies = {device_, size},
                .predicted = {device_, size},
                .pulls = {device_, size},
                .levels = {device_, size},
                .active = {device_, size},
                .counts = {device_, level_count + 1},
                .counts_here = {device_, level_count, /*pinned=*/true},
                .moments = {device_, moments_at_once + 1},
                .moments_here = {device_, moments_at_once, /*pinned=*/true}};
  memory_ = std::move(memory);
}

void HermiteBodies::forget() {
  bodies_replaced();
  memory_ = {};
}

void HermiteBodies::start(const StateArrays& arrays, cudaStream_t stream) {
  visit_precision(arrays, [&]<class Real>(Real) {
    start_bodies<Real>
        <<<ceil_div(count(), hermite_block), hermite_block, 0, stream>>>(arrays, count(), memory_.bodies.data());
  });
  ORRERY_CUDA_CHECK_LAUNCH(start_bodies);
  started_ = true;
  pulls_current_ = false;
}

HermiteState HermiteBodies::state(cudaStream_t stream) const {
  if (!started_) return {};
  HermiteState state{.bodies = std::vector<HermiteBody>(memory_.bodies.size()), .pulls_current = pulls_current_};
  download<HermiteBody>(memory_.bodies.data(), state.bodies, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return state;
}

void HermiteBodies::go_on(const HermiteState& state, cudaStream_t stream) {
  prepare(static_cast<int>(state.bodies.size()));
  upload<HermiteBody>(state.bodies, memory_.bodies.data(), stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  started_ = true;
  pulls_current_ = state.pulls_current;
}

void HermiteBodies::predict_begin(cudaStream_t stream) {
  copy_begin<<<ceil_div(count(), hermite_block), hermite_block, 0, stream>>>(memory_.bodies.data(), count(),
                                                                             memory_.predicted.data());
  ORRERY_CUDA_CHECK_LAUNCH(copy_begin);
  active_count_ = count();
}

void HermiteBodies::take_first_pulls(const StepCriterion& criterion, float drag, cudaStream_t stream) {
  take_pulls<<<ceil_div(count(), hermite_block), hermite_block, 0, stream>>>(
      memory_.bodies.data(), memory_.pulls.data(), count(), criterion, drag);
  ORRERY_CUDA_CHECK_LAUNCH(take_pulls);
  pulls_current_ = true;
}

int HermiteBodies::begin(float time_step, bool share_steps, cudaStream_t stream) {
  share_steps_ = share_steps;
  if (share_steps) {
    counts_ = {count()};
    return 0;
  }
  ORRERY_CUDA_CHECK(cudaMemsetAsync(memory_.counts.data(), 0, (level_count + 1) * sizeof(int), stream));
  begin_levels<<<ceil_div(count(), hermite_block), hermite_block, 0, stream>>>(
      memory_.bodies.data(), count(), time_step, memory_.levels.data(), memory_.counts.data());
  ORRERY_CUDA_CHECK_LAUNCH(begin_levels);
  return fetch_counts(stream);
}

int HermiteBodies::fetch_counts(cudaStream_t stream) {
  const std::span<int> here = memory_.counts_here.first(level_count);
  download(memory_.counts.data(), here, stream);
  ORRERY_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::ranges::copy(here, counts_.begin());
  return deepest_of(counts_);
}

void HermiteBodies::predict(const Substep& now, cudaStream_t stream) {
  active_count_ = share_steps_ ? count() : count_from(counts_, now.lowest_active());
  int* const list = active_count_ < count() ? memory_.active.data() : nullptr;
  launch_dependent(device_, predict_bodies, ceil_div(count(), hermite_block), hermite_block, 0, stream,
                   memory_.bodies.data(), share_steps_ ? nullptr : memory_.levels.data(), count(), now,
                   memory_.predicted.data(), list, memory_.counts.data());
}

int HermiteBodies::correct(const Substep& now, const Correction& how, cudaStream_t stream) {
  const int* const list = d_active();
  launch_dependent(device_, correct_bodies, ceil_div(active_count_, hermite_block), hermite_block, 0, stream,
                   memory_.bodies.data(), memory_.predicted.data(), memory_.pulls.data(), list, active_count_,
                   share_steps_ ? nullptr : memory_.levels.data(), now, how, memory_.counts.data());
  return share_steps_ ? 0 : fetch_counts(stream);
}

void HermiteBodies::begin_moments(cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemsetAsync(memory_.moments.data(), 0, sizeof(HermiteMoment), stream));
}

void HermiteBodies::predict_next(int place, float time_step, cudaStream_t stream) {
  HermiteMoment* const before = memory_.moments.data() + place;
  launch_dependent(device_, predict_next_bodies, ceil_div(count(), hermite_block), hermite_block, 0, stream,
                   memory_.bodies.data(), memory_.levels.data(), count(), time_step, before, before + 1,
                   memory_.predicted.data(), memory_.active.data(), memory_.counts.data());
}

void HermiteBodies::correct_next(int place, float time_step, const Correction& how, cudaStream_t stream) {
  launch_dependent(device_, correct_next_bodies, ceil_div(count(), hermite_block), hermite_block, 0, stream,
                   memory_.bodies.data(), memory_.predicted.data(), memory_.pulls.data(), memory_.active.data(),
                   memory_.moments.data() + place + 1, memory_.levels.data(), time_step, how, memory_.counts.data());
}

std::span<const HermiteMoment> HermiteBodies::take_moments(cudaStream_t stream) {
  const std::span<HermiteMoment> here = memory_.moments_here.first(moments_at_once);
  download(memory_.moments.data() + 1, here, stream);
  ORRERY_CUDA_CHECK(cudaMemcpyAsync(memory_.moments.data(), memory_.moments.data() + moments_at_once,
                                    sizeof(HermiteMoment), cudaMemcpyDeviceToDevice, stream));
  (void)fetch_counts(stream);
  return here;
}

void HermiteBodies::write(const StateArrays& arrays, Vec4* d_accelerations, const NonFiniteCheck& check,
                          cudaStream_t stream) const {
  visit_precision(arrays, [&]<class Real>(Real) {
    launch_dependent(device_, write_bodies<Real>, ceil_div(count(), hermite_block), hermite_block, 0, stream,
                     memory_.bodies.data(), count(), arrays, d_accelerations, check);
  });
}

}  // namespace orrery::cuda
