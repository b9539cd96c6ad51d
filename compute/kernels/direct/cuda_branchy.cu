#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/passes.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_tile_per_block),
};

// A new kernel can start from here (orrery new-kernel):
/// Returns the acceleration of `me` due to `body`: getBodyBodyForce() of Brute Force N-Body Optimization, divided by
/// the mass of `me`. The original divides later, in moveBodies(), but a product of two masses may leave the range of
/// float. The original has no softening; here it is added. `repulsion` = 0 gives gravity.
__device__ Vec3 pull_as_written(const Vec4& me, const Vec4& body, float softening_sq, float repulsion) {
  const float dx = body.x - me.x;
  const float dy = body.y - me.y;
  const float dz = body.z - me.z;
  const float r2 = dx * dx + dy * dy + dz * dz + softening_sq;
  const float r = sqrtf(r2);
  const float pull = body.w / r2 - (repulsion * body.w) / (r2 * r2);
  return {pull * dx / r, pull * dy / r, pull * dz / r};
}

/// Returns the acceleration of body `i` due to all `count` bodies, which fill `tiles` tiles. All threads of a block
/// must call this, because they fill each tile together.
__device__ __forceinline__ Vec3 pull_of_tiles(const Vec4* __restrict__ bodies, int count, int tiles, int i,
                                              const Vec4& me, float softening_sq, float repulsion) {
  extern __shared__ Vec4 tile[];
  const int width = static_cast<int>(blockDim.x);
  Vec3 sum;
  for (int t = 0; t < tiles; ++t) {
    const int mine = t * width + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = mine < count ? bodies[mine] : Vec4{};  // the original reads past the end here, and for `me`
    __syncthreads();
#pragma unroll 32
    for (int k = 0; k < width; ++k) {
      const int j = t * width + k;
      if (j != i && j < count) {
        const Vec3 pull = pull_as_written(me, tile[k], softening_sq, repulsion);
        sum.x += pull.x;
        sum.y += pull.y;
        sum.z += pull.z;
      }
    }
    __syncthreads();  // the tile is refilled only after all threads have read it; the original lacks this barrier
  }
  return sum;
}
// to here.

__global__ void accelerate(const Vec4* __restrict__ bodies, int count, float softening_sq, float repulsion,
                           Vec4* __restrict__ accelerations) {
  const int width = static_cast<int>(blockDim.x), tiles = static_cast<int>(gridDim.x);
  const int i = static_cast<int>(blockIdx.x) * width + static_cast<int>(threadIdx.x);
  const Vec4 me = i < count ? bodies[i] : Vec4{};
  const Vec3 sum = pull_of_tiles(bodies, count, tiles, i, me, softening_sq, repulsion);
  if (i < count) accelerations[i] = {sum.x, sum.y, sum.z, 0};
}

class Branchy final : public BlockKernel<const Vec4*, int, float, float, Vec4*> {
 public:
  Branchy(const Settings& settings, const cuda::Device& device)
      : BlockKernel{
            "cuda-branchy", device, settings, {.shared_bytes = sizeof(Vec4)}, [](LawId) { return accelerate; }} {}

  void prepare(int count) override { epilogue_.prepare(count); }

  void do_evaluate(const ForceArgs& args) override {
    const float repulsion = args.law.id == LawId::attract_repel ? args.law.repulsion : 0;
    launch(args, args.bodies, args.count, args.law.softening * args.law.softening, repulsion,
           epilogue_.storing(args).accelerations);
    epilogue_.finish(args);
  }

 private:
  StoredEpilogue epilogue_{device(), "another kernel"};
};

}  // namespace

ORRERY_KERNEL(
    cuda_branchy, .id = "cuda-branchy", .title = "CUDA branchy",
    .notes =
        "A shared-memory tile with two branches, a square root and five divisions per pair, and the kick in a pass of "
        "its "
        "own; the source omits the softening and the barrier before the next fill, and reads past the array's end.",
    .source = "Brute Force N-Body Optimization, nBodyGPU5, blocks of 1,024 threads",
    .lesson =
        "A tile alone makes no fast kernel: branches, exact square roots and divisions keep every warp waiting for its "
        "own last instruction. Rewriting the arithmetic gains more here than any placement of memory.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 5e-6, .max = 5e-3},
    .create = create_kernel<Branchy>);

}  // namespace orrery
