#include <algorithm>

#include "compute/core/vec.h"
#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/diagnostics/reference_cuda.h"

namespace orrery::cuda {
namespace {

constexpr int block = 128;
/// Targets of one block: a body is read once for all of them.
constexpr int group = 4;
/// Blocks that keep a multiprocessor busy.
constexpr int blocks_per_multiprocessor = 8;

struct Sum : Vec3d {
  __device__ Sum& operator+=(const Vec3d& other) {
    x += other.x, y += other.y, z += other.z;
    return *this;
  }
};

/// Block (g, split) sums the pulls of every gridDim.y-th part of the bodies on the targets of group g.
template <class PairLaw>
__global__ void sum_pulls(const Vec4* __restrict__ bodies, const Vec4* __restrict__ low, int count,
                          const int* __restrict__ targets, int samples, PairLaw law, Vec3d* __restrict__ partials) {
  const int first = static_cast<int>(blockIdx.x) * group;
  Vec3d at[group];
  Sum sums[group];
#pragma unroll
  for (int k = 0; k < group; ++k) {
    const int target = targets[min(first + k, samples - 1)];
    at[k] = joined<double>(bodies[target], low ? low[target] : Vec4{});
  }
  const int stride = static_cast<int>(gridDim.y) * block;
  for (int j = static_cast<int>(blockIdx.y * block + threadIdx.x); j < count; j += stride) {
    const Vec3d from = joined<double>(bodies[j], low ? low[j] : Vec4{});
    const double mass = bodies[j].w;
#pragma unroll
    for (int k = 0; k < group; ++k) {
      const double dx = from.x - at[k].x, dy = from.y - at[k].y, dz = from.z - at[k].z;
      const double s = law.factor(dx, dy, dz, mass);
      sums[k] += Vec3d{s * dx, s * dy, s * dz};
    }
  }
#pragma unroll
  for (int k = 0; k < group; ++k) {
    const Sum sum = block_sum<block>(sums[k]);
    if (threadIdx.x == 0 && first + k < samples)
      partials[blockIdx.y * static_cast<unsigned>(samples) + first + k] = sum;
  }
}

__global__ void gather(const Vec3d* __restrict__ partials, int splits, const int* __restrict__ targets, int samples,
                       const Vec4* __restrict__ accelerations, Vec3d* __restrict__ reference,
                       Vec4* __restrict__ chosen) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= samples) return;
  Sum sum;
  for (int split = 0; split < splits; ++split) sum += partials[split * samples + i];
  reference[i] = sum;
  chosen[i] = accelerations[targets[i]];
}

}  // namespace

/// Blocks that share the sum for a group of targets.
int ForceComparison::splits(int count) const {
  const int groups = ceil_div(targets(), group);
  return std::clamp(ceil_div(device_.multiprocessors() * blocks_per_multiprocessor, groups), 1, ceil_div(count, block));
}

void ForceComparison::prepare(int count, const ComparedBodies& compared) {
  if (count == count_ && compared == compared_) return;
  count_ = 0;  // as long as something may fail
  targets_ = targets_of(compared, count);
  compared_ = compared;
  const std::size_t size = targets_.size();
  if (size > pinned_targets_.size()) pinned_targets_ = HostArray<int>(device_, size, /*pinned=*/true);
  if (size > reference_.size()) reference_ = HostArray<Vec3d>(device_, size, /*pinned=*/true);
  if (size > accelerations_.size()) accelerations_ = HostArray<Vec4>(device_, size, /*pinned=*/true);
  if (size > d_targets_.size()) d_targets_ = DeviceArray<int>(device_, size);
  const auto partials = static_cast<std::size_t>(splits(count)) * size;
  if (partials > d_partials_.size()) d_partials_ = DeviceArray<Vec3d>(device_, partials);
  count_ = count;
}

void ForceComparison::enqueue(const Vec4* d_bodies, const Vec4* d_low, int count, const ComparedBodies& compared,
                              const Law& law, const Vec4* d_accelerations, cudaStream_t stream) {
  prepare(count, compared);
  const int samples = targets(), splits = this->splits(count);
  const int groups = ceil_div(samples, group);
  std::ranges::copy(targets_, pinned_targets_.first(samples).begin());

  begin_.record(stream);
  upload<int>(pinned_targets_.first(samples), d_targets_.data(), stream);
  visit_pair_law<double>(law, [&](const auto& pair_law) {
    const dim3 grid{static_cast<unsigned>(groups), static_cast<unsigned>(splits)};
    sum_pulls<<<grid, block, 0, stream>>>(d_bodies, d_low, count, d_targets_.data(), samples, pair_law,
                                          d_partials_.data());
    ORRERY_CUDA_CHECK_LAUNCH(sum_pulls);
  });
  gather<<<ceil_div(samples, block), block, 0, stream>>>(d_partials_.data(), splits, d_targets_.data(), samples,
                                                         d_accelerations, reference_.first(samples).data(),
                                                         accelerations_.first(samples).data());
  ORRERY_CUDA_CHECK_LAUNCH(gather);
  end_.record(stream);
}

ForceError ForceComparison::error() const {
  const int size = sample();
  return target_error(accelerations_.first(size), std::span{targets_}.first(static_cast<std::size_t>(size)),
                      reference_.first(size));
}

BodyErrors ForceComparison::body_errors() const {
  const std::span accelerations = accelerations_.first(targets());
  return {targets_,
          target_errors(accelerations, reference_.first(targets())),
          {accelerations.begin(), accelerations.end()}};
}

}  // namespace orrery::cuda
