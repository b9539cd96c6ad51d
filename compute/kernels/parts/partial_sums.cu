#include "compute/cuda/launch.h"
#include "compute/kernels/parts/partial_sums.h"

namespace orrery {
namespace {

constexpr int block = 128;

__global__ void add_partials(const Vec4* __restrict__ partials, int splits, const Vec4* __restrict__ bodies, int count,
                             Epilogue epilogue) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  Vec3 sum;
#pragma unroll 8
  for (int split = 0; split < splits; ++split) {
    const Vec4 part = partials[static_cast<std::size_t>(split) * static_cast<std::size_t>(count) + i];
    sum.x += part.x;
    sum.y += part.y;
    sum.z += part.z;
  }
  epilogue.finish(i, bodies[i].w, sum);
}

}  // namespace

void finish_partial_sums(const Vec4* d_partials, int splits, const Vec4* d_bodies, int count, const Epilogue& epilogue,
                         cudaStream_t stream) {
  add_partials<<<cuda::ceil_div(count, block), block, 0, stream>>>(d_partials, splits, d_bodies, count, epilogue);
  ORRERY_CUDA_CHECK_LAUNCH(add_partials);
}

}  // namespace orrery
