#include <cuda_fp16.h>

#include "compute/cuda/arrays.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/parts/block_kernel.h"
#include "compute/kernels/parts/tunables.h"

namespace orrery {
namespace {

constexpr Tunable tunables[] = {
    block_tunable(one_tile_per_block),
    rsqrt_tunable,
    ftz_tunable,
};

/// Scaling of the coordinates before they are rounded to half. The factor is a power of two that brings the largest
/// magnitude into [2^13, 2^14). So differences stay finite, and few coordinates become subnormal.
struct Scale {
  float factor;

  /// `farthest`: the largest magnitude of a coordinate, as the bits of a float.
  explicit __device__ Scale(const int* farthest) {
    const float largest = __int_as_float(*farthest);
    factor = largest > 0 ? ldexpf(1, min(max(13 - ilogbf(largest), -126), 126)) : 1;
  }
  /// Scales the constants, which are squared lengths. The softening length is at least 1e-10 of the largest coordinate,
  /// because the sum includes the pull of a body on itself.
  __device__ PairConstants of(PairConstants constants) const {
    constexpr float least_sq = 1e-12f;
    constants.softening_sq = fmaxf(constants.softening_sq * factor * factor, least_sq);
    constants.repulsion *= factor * factor;
    return constants;
  }
  __device__ Vec3 acceleration(const Vec3& a) const {
    return {a.x * factor * factor, a.y * factor * factor, a.z * factor * factor};
  }
};

struct alignas(8) HalfPosition {
  __half x, y, z, unused;
};

/// Tile in shared memory. A body takes one 8-byte and one 4-byte load, from two arrays. Masses stay float, because the
/// smallest normal half is 6e-5.
struct Tile {
  HalfPosition* positions;
  float* masses;

  static constexpr std::size_t body_bytes = sizeof(HalfPosition) + sizeof(float);
  __device__ Tile(HalfPosition* shared, int width)
      : positions{shared}, masses{reinterpret_cast<float*>(shared + width)} {}
};

/// Sets `farthest`, which must be 0 initially, to the largest magnitude of a coordinate, as the bits of a float.
__global__ void find_farthest(const Vec4* __restrict__ bodies, int count, int* farthest) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float largest = 0;
  if (i < count) largest = fmaxf(fmaxf(fabsf(bodies[i].x), fabsf(bodies[i].y)), fabsf(bodies[i].z));
  largest = cuda::greatest_over(cuda::Warp{}, largest);
  if (threadIdx.x % 32 == 0) atomicMax(farthest, __float_as_int(largest));
}

__global__ void repack(const Vec4* __restrict__ bodies, int count, const int* farthest,
                       HalfPosition* __restrict__ positions) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 body = bodies[i];
  const float factor = Scale{farthest}.factor;
  positions[i] = {
      __float2half_rn(body.x * factor), __float2half_rn(body.y * factor), __float2half_rn(body.z * factor), {}};
}

/// Returns b - a, rounded to half.
__device__ float difference(__half b, __half a) {
  return __half2float(__hsub(b, a));
}

template <LawId law, class Real>
__global__ void accelerate(const HalfPosition* __restrict__ positions, const Vec4* __restrict__ bodies, int count,
                           PairConstants constants, const int* farthest, Epilogue epilogue) {
  extern __shared__ HalfPosition shared[];
  const int width = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const Tile tile{shared, width};
  const int i = static_cast<int>(blockIdx.x) * width + lane;
  const HalfPosition me =
      i < count ? positions[i] : HalfPosition{};  // no early return: all threads must reach the barriers
  const Scale scale{farthest};
  const auto pair = pair_law<law, Real>(scale.of(constants));
  Vec3Of<Real> sum;
  for (int first = 0; first < count; first += width) {
    const int mine = first + lane;
    tile.positions[lane] = mine < count ? positions[mine] : HalfPosition{};
    tile.masses[lane] = mine < count ? bodies[mine].w : 0.0f;  // padding: zero mass pulls nothing
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < width; ++j) {
      const HalfPosition other = tile.positions[j];
      add_pull_along(sum, pair, Real{difference(other.x, me.x)}, Real{difference(other.y, me.y)},
                     Real{difference(other.z, me.z)}, Real{tile.masses[j]});
    }
    __syncthreads();  // the tile is refilled only after all threads have read it
  }
  if (i < count) epilogue.finish(i, bodies[i].w, scale.acceleration(values(sum)));
}

class Fp16 final : public BlockKernel<const HalfPosition*, const Vec4*, int, PairConstants, const int*, Epilogue> {
 public:
  Fp16(const Settings& settings, const cuda::Device& device)
      : BlockKernel{"cuda-fp16",
                    device,
                    settings,
                    {.shared_bytes = Tile::body_bytes},
                    dispatch_by_arithmetic(settings, [](auto law, auto real) -> Instance {
                      return accelerate<decltype(law)::value, decltype(real)>;
                    })} {}

  void prepare(int count) override {
    take_scratch(device(), positions_, static_cast<std::size_t>(count), "cuda-fp16: the positions in half precision",
                 "cuda-tiled");
    take_scratch(device(), farthest_, 1, "cuda-fp16: the scale", "cuda-tiled");
  }

  void do_evaluate(const ForceArgs& args) override {
    prepare(args.count);
    const int blocks = cuda::ceil_div(args.count, block());
    ORRERY_CUDA_CHECK(cudaMemsetAsync(farthest_.data(), 0, sizeof(int), args.stream));
    find_farthest<<<blocks, block(), 0, args.stream>>>(args.bodies, args.count, farthest_.data());
    ORRERY_CUDA_CHECK_LAUNCH(find_farthest);
    repack<<<blocks, block(), 0, args.stream>>>(args.bodies, args.count, farthest_.data(), positions_.data());
    ORRERY_CUDA_CHECK_LAUNCH(repack);
    launch(args, positions_.data(), args.bodies, args.count, PairConstants{args.law}, farthest_.data(), args.epilogue);
  }

 private:
  cuda::DeviceArray<HalfPosition> positions_;
  cuda::DeviceArray<int> farthest_;
};

}  // namespace

// Reason for the tolerance: rounding to half moves a coordinate near 1 by up to 2^-12, and one near 8 by up to 2^-9. So
// the pull of a pair 0.02 apart may be wrong by a tenth or more; a sum over many pairs averages these errors. An
// emulation on the CPU gave medians of 2e-4 to 1.2e-3 and maxima up to 0.2 (close pairs far from the centre). It
// covered random balls and all scenes, with 1,000 to 65,536 bodies.
ORRERY_KERNEL(
    cuda_fp16, .id = "cuda-fp16", .title = "CUDA fp16",
    .notes =
        "Tiles of half-precision positions, packed for each evaluation and scaled to the range of half, and half "
        "differences; float masses and sums.",
    .source = "Vliora & Liaskonis 2025, section 5.6, FP16 storage and half differences",
    .lesson =
        "Half the bytes in a tile save nothing where arithmetic is the limit, and each conversion between half and "
        "float is one more instruction. The difference of two coordinates keeps 11 bits of the coordinate, so close "
        "pairs far from the origin go wrong first.",
    .backend = Backend::cuda, .tunables = tunables, .tolerance = {.median = 3e-3, .max = 0.5}, .full_fp32 = false,
    .create = create_kernel<Fp16>);

}  // namespace orrery
