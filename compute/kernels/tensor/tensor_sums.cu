#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/parts/tunables.h"
#include "compute/kernels/tensor/tensor_sums.h"

namespace orrery {
namespace {

constexpr int finish_block = 128;
constexpr int again_block = 512;    // many threads per body, because usually few bodies are summed again
constexpr int bodies_together = 4;  // bodies that a block sums again at a time

/// Rounding of a coordinate relative to the body's greatest one, and of a sum over a few tiles.
constexpr float relative_rounding = 0x1p-22f;
constexpr float allowed_error = 1e-4f;

__global__ void finish_bodies(const Vec4* __restrict__ sums, TensorOperands operands, const Vec4* __restrict__ bodies,
                              int count, float greatest_mass, int* again, Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 sum = sums[i], body = operands.bodies[i];
  const float rounding = relative_rounding * norm3df(body.x, body.y, body.z) * fabsf(sum.w);
  if (!(rounding <= allowed_error * norm3df(sum.x, sum.y, sum.z))) {
    again[1 + atomicAdd(again, 1)] = i;
    return;
  }
  const float scale = operands.scale->w * operands.scale->w * greatest_mass;
  epilogue.finish(i, bodies[i].w, {sum.x * scale, sum.y * scale, sum.z * scale});
}

template <LawId law>
__global__ void __launch_bounds__(again_block)
    sum_again(const Vec4* __restrict__ bodies, int count, PairConstants constants, const int* __restrict__ again,
              Epilogue epilogue) {
  __shared__ Vec3 parts[again_block / 32][bodies_together];
  const auto pair = pair_law<law, float>(constants);
  const int lane = static_cast<int>(threadIdx.x), bodies_again = again[0];
  for (int first = static_cast<int>(blockIdx.x) * bodies_together; first < bodies_again;
       first += static_cast<int>(gridDim.x) * bodies_together) {
    Vec4 mine[bodies_together];
    Vec3 sum[bodies_together];
#pragma unroll
    for (int k = 0; k < bodies_together; ++k) mine[k] = bodies[again[1 + min(first + k, bodies_again - 1)]];
#pragma unroll 4
    for (int j = lane; j < count; j += again_block) {
      const Vec4 body = bodies[j];
#pragma unroll
      for (int k = 0; k < bodies_together; ++k) add_pull(sum[k], pair, mine[k].x, mine[k].y, mine[k].z, body);
    }
#pragma unroll
    for (int k = 0; k < bodies_together; ++k) {
      constexpr cuda::Warp warp;
      const Vec3 part{sum_over(warp, sum[k].x), sum_over(warp, sum[k].y), sum_over(warp, sum[k].z)};
      if (lane % 32 == 0) parts[lane / 32][k] = part;
    }
    __syncthreads();
    if (lane < bodies_together && first + lane < bodies_again) {
      Vec3 a;
      for (const auto& part : parts) {
        a.x += part[lane].x;
        a.y += part[lane].y;
        a.z += part[lane].z;
      }
      const int i = again[1 + first + lane];
      epilogue.finish(i, bodies[i].w, a);
    }
    __syncthreads();  // all threads have read `parts` before it is overwritten
  }
}

}  // namespace

void TensorSums::prepare(int padded) {
  take_scratch(device_, sums_, static_cast<std::size_t>(padded), "cuda-tensor: the sums", "cuda-symmetric");
  take_scratch(device_, again_, static_cast<std::size_t>(padded) + 1, "cuda-tensor: the indices of bodies",
               "cuda-symmetric");
}

Vec4* TensorSums::begin(const ForceArgs& args, int padded) {
  prepare(padded);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(sums_.data(), 0, static_cast<std::size_t>(padded) * sizeof(Vec4), args.stream));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(again_.data(), 0, sizeof(int), args.stream));
  return sums_.data();
}

void TensorSums::finish(const ForceArgs& args, const TensorOperands& operands) {
  finish_bodies<<<cuda::ceil_div(args.count, finish_block), finish_block, 0, args.stream>>>(
      sums_.data(), operands, args.bodies, args.count, args.masses.greatest, again_.data(), args.epilogue);
  ORRERY_CUDA_CHECK_LAUNCH(finish_bodies);
  const int blocks = std::min(cuda::ceil_div(args.count, bodies_together), 4 * device_.multiprocessors());
  law_values.dispatch(args.law.id, [&](auto law) {
    sum_again<decltype(law)::value><<<blocks, again_block, 0, args.stream>>>(
        args.bodies, args.count, PairConstants{args.law}, again_.data(), args.epilogue);
  });
  ORRERY_CUDA_CHECK_LAUNCH(sum_again);
}

}  // namespace orrery
