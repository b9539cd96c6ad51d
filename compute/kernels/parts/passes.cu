#include <cstddef>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/passes.h"

namespace orrery {
namespace {

constexpr int arrange_block = 256;

std::size_t floats_per_body(Layout layout) {
  return layout == Layout::float4 ? 0 : layout == Layout::aos6 ? 7 : 4;
}

/// Copies body i to x[i * stride], y[i * stride], z[i * stride] and mass[i].
__global__ void arrange(const Vec4* __restrict__ bodies, int count, int stride, float* __restrict__ x,
                        float* __restrict__ y, float* __restrict__ z, float* __restrict__ mass) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 body = load_vec4(bodies + i);
  const std::size_t at = static_cast<std::size_t>(i) * static_cast<std::size_t>(stride);
  x[at] = body.x;
  y[at] = body.y;
  z[at] = body.z;
  mass[i] = body.w;
}

constexpr int block = 128;

/// Returns entry `place` of row `split` of the partial sums. A row has `count` entries.
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

void BodyLayout::prepare(int count) {
  take_scratch(device_, copy_, floats_per_body(layout_) * static_cast<std::size_t>(count),
               "the bodies in another layout", "layout=float4");
}

BodyArrays BodyLayout::arranged(const ForceArgs& args) {
  if (layout_ == Layout::float4) return {.vectors = args.bodies};
  prepare(args.count);
  const std::size_t count = static_cast<std::size_t>(args.count);
  float* const x = copy_.data();
  const bool soa = layout_ == Layout::soa;
  float* const y = soa ? x + count : x + 1;
  float* const z = soa ? y + count : y + 1;
  float* const mass = x + (floats_per_body(layout_) - 1) * count;
  const int stride = soa ? 1 : layout_ == Layout::float3 ? 3 : 6;
  arrange<<<cuda::ceil_div(args.count, arrange_block), arrange_block, 0, args.stream>>>(args.bodies, args.count, stride,
                                                                                        x, y, z, mass);
  ORRERY_CUDA_CHECK_LAUNCH(arrange);
  return {.x = x, .y = y, .z = z, .mass = mass};
}

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
  const Epilogue& wanted = args.epilogue;
  if (!wanted.velocities) return;
  kick<<<cuda::ceil_div(args.count, block), block, 0, args.stream>>>(
      storing(args).accelerations, args.bodies, args.count, wanted.velocities, wanted.drag, wanted.kick_dt);
  ORRERY_CUDA_CHECK_LAUNCH(kick);
}

}  // namespace orrery
