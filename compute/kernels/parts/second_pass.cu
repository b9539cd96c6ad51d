#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/parts/second_pass.h"

namespace orrery {
namespace {

constexpr int block = 128;

/// Returns the partial sum of entry `place` in row `split`. Rows have `count` entries.
__device__ __forceinline__ Vec4 part_of(const Vec4* __restrict__ partials, int count, int split, int place) {
  return partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(count) + place];
}

__global__ void add_partials(const Vec4* __restrict__ partials, int splits, const Vec4* __restrict__ bodies, int count,
                             Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  Vec3 sum;
#pragma unroll 8
  for (int split = 0; split < splits; ++split) {
    const Vec4 part = part_of(partials, count, split, i);
    sum.x += part.x;
    sum.y += part.y;
    sum.z += part.z;
  }
  epilogue.finish(i, bodies[i].w, sum);
}

__global__ void add_partials_of_targets(const Vec4* __restrict__ partials, int splits, const Vec4* __restrict__ bodies,
                                        Targets targets, Epilogue epilogue) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= targets.count) return;
  Vec3 sum;
#pragma unroll 8
  for (int split = 0; split < splits; ++split) {
    const Vec4 part = part_of(partials, targets.count, split, place);
    sum.x += part.x;
    sum.y += part.y;
    sum.z += part.z;
  }
  const int i = targets.body(place);
  epilogue.finish(i, bodies[i].w, sum);
}

__global__ void kick(const Vec4* __restrict__ accelerations, const Vec4* __restrict__ bodies, int count,
                     Vec4* __restrict__ velocities, float drag, float dt) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 a = accelerations[i];
  velocities[i] = Epilogue::kicked(velocities[i], {a.x, a.y, a.z}, bodies[i].w, drag, dt);
}

}  // namespace

void finish_partial_sums(const Vec4* d_partials, int splits, const Vec4* d_bodies, int count, const Epilogue& epilogue,
                         cudaStream_t stream) {
  add_partials<<<cuda::ceil_div(count, block), block, 0, stream>>>(d_partials, splits, d_bodies, count, epilogue);
  ORRERY_CUDA_CHECK_LAUNCH(add_partials);
}

void finish_partial_sums_of_targets(const Vec4* d_partials, int splits, const Vec4* d_bodies, const Targets& targets,
                                    const Epilogue& epilogue, cudaStream_t stream) {
  add_partials_of_targets<<<cuda::ceil_div(targets.count, block), block, 0, stream>>>(d_partials, splits, d_bodies,
                                                                                      targets, epilogue);
  ORRERY_CUDA_CHECK_LAUNCH(add_partials_of_targets);
}

void StoredEpilogue::prepare(int count) {
  take_scratch(device_, own_, static_cast<std::size_t>(count), "the stored accelerations", instead_);
}

Epilogue StoredEpilogue::storing(const ForceArgs& args) {
  if (args.epilogue.accelerations) return {.accelerations = args.epilogue.accelerations};
  prepare(args.count);
  return {.accelerations = own_.data()};
}

void StoredEpilogue::finish(const ForceArgs& args) {
  const Epilogue& asked = args.epilogue;
  if (!asked.velocities) return;
  kick<<<cuda::ceil_div(args.count, block), block, 0, args.stream>>>(
      storing(args).accelerations, args.bodies, args.count, asked.velocities, asked.drag, asked.kick_dt);
  ORRERY_CUDA_CHECK_LAUNCH(kick);
}

}  // namespace orrery
