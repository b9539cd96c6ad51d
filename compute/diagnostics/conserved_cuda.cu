#include <algorithm>
#include <cstdint>

#include "compute/core/vec.h"
#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/diagnostics/conserved_cuda.h"

namespace orrery::cuda {
namespace {

/// Threads of a block and bodies of a tile.
constexpr int block = 256;
/// Blocks that keep a multiprocessor busy.
constexpr int blocks_per_multiprocessor = 8;
/// Number of pairs per launch, or more if all tiles at one distance have more. A launch takes a tenth of a second on a
/// GPU that is slow in double precision. Between launches a display is drawn.
constexpr std::int64_t pairs_per_launch = std::int64_t{1} << 28;

struct Sums : Conserved {
  __device__ Sums& operator+=(const Conserved& other) {
    mass += other.mass, kinetic += other.kinetic, potential += other.potential;
    add(momentum, other.momentum);
    add(angular_momentum, other.angular_momentum);
    return *this;
  }
  __device__ static void add(Vec3d& a, const Vec3d& b) { a.x += b.x, a.y += b.y, a.z += b.z; }
};

struct Body {
  double x, y, z, mass;
};

/// Vectors with their low words, which are null if there are none.
struct Vectors {
  const Vec4* high;
  const Vec4* low;
  __device__ Vec3d operator[](int i) const { return joined<double>(high[i], low ? low[i] : Vec4{}); }
};

/// Beyond the end: a body without mass, which neither pulls nor counts.
__device__ Body body_at(const Vectors& positions, int i, int count) {
  if (i >= count) return {0, 0, 0, 0};
  const Vec3d at = positions[i];
  return {at.x, at.y, at.z, positions.high[i].w};
}

/// The potential of a pair, as in conserved.cpp.
struct PairPotential {
  double softening_sq, repulsion_third;
  __device__ double operator()(const Body& a, const Body& b) const {
    const double dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const double inverse = reciprocal_sqrt(dx * dx + dy * dy + dz * dz + softening_sq);
    return b.mass * inverse * (repulsion_third * inverse * inverse - 1);
  }
};

/// Block (row, split) takes the pairs of the bodies of tile `row` with those of the tiles row + d, counted round the
/// end, for every gridDim.y-th distance d in [first, end). Over all distances up to half of all tiles each pair of
/// tiles meets once, and all rows have the same work. From the second launch on, adds to what the partials have.
__global__ void sum_tiles(Vectors positions, Vectors velocities, int count, int first, int end, PairPotential pair,
                          Conserved* __restrict__ partials) {
  __shared__ Body tile[block];
  const int me = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x);
  const int tiles = static_cast<int>(gridDim.x), splits = static_cast<int>(gridDim.y);
  const int i = row * block + me;
  const Body body = body_at(positions, i, count);
  double potential = 0;
  for (int d = first + static_cast<int>(blockIdx.y); d < end; d += splits) {
    if (2 * d == tiles && row >= d) continue;  // halfway round: the other tile of the pair has this one
    const int other = row + d < tiles ? row + d : row + d - tiles;
    __syncthreads();
    tile[me] = body_at(positions, other * block + me, count);
    __syncthreads();
    const int others = d == 0 ? me : block;  // within its own tile a body meets those before it
    for (int k = 0; k < others; ++k) potential += pair(body, tile[k]);
  }
  Sums mine;
  mine.potential = body.mass * potential;
  if (first == 0 && blockIdx.y == 0 && i < count) {
    const Vec3d velocity = velocities[i];
    const double m = body.mass, vx = velocity.x, vy = velocity.y, vz = velocity.z;
    mine.mass = m;
    mine.kinetic = m / 2 * (vx * vx + vy * vy + vz * vz);
    mine.momentum = {m * vx, m * vy, m * vz};
    mine.angular_momentum = {m * (body.y * vz - body.z * vy), m * (body.z * vx - body.x * vz),
                             m * (body.x * vy - body.y * vx)};
  }
  Sums sum = block_sum<block>(mine);
  if (me != 0) return;
  Conserved& partial = partials[static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x];
  if (first > 0) sum += partial;
  partial = sum;
}

/// One block.
__global__ void sum_partials(const Conserved* __restrict__ partials, int size, Conserved* __restrict__ result) {
  Sums mine;
  for (int i = static_cast<int>(threadIdx.x); i < size; i += block) mine += partials[i];
  const Sums sum = block_sum<block>(mine);
  if (threadIdx.x == 0) *result = sum;
}

/// How the launches of sum_tiles() divide the pairs.
struct Division {
  int tiles, distances, per_launch, splits;

  Division(const Device& device, int count) : tiles{ceil_div(count, block)}, distances{tiles / 2 + 1} {
    const auto most = std::max<std::int64_t>(pairs_per_launch / (std::int64_t{tiles} * block * block), 1);
    per_launch = static_cast<int>(std::min<std::int64_t>(most, distances));
    splits = std::clamp(ceil_div(device.multiprocessors() * blocks_per_multiprocessor, tiles), 1, per_launch);
  }
  int partials() const { return tiles * splits; }
};

}  // namespace

void ConservedSums::prepare(int count, Digits digits) {
  const auto size = static_cast<std::size_t>(count);
  if (d_velocities_.size() != size) {       // the last that is taken
    d_positions_ = {}, d_velocities_ = {};  // first the old memory, then the new
    d_positions_ = DeviceArray<Vec4>(device_, size), d_velocities_ = DeviceArray<Vec4>(device_, size);
  }
  if (const std::size_t low_words = low_words_of(count, digits); d_velocities_low_.size() != low_words) {
    d_positions_low_ = {}, d_velocities_low_ = {};
    d_positions_low_ = DeviceArray<Vec4>(device_, low_words), d_velocities_low_ = DeviceArray<Vec4>(device_, low_words);
  }
  if (const auto partials = static_cast<std::size_t>(Division{device_, count}.partials());
      d_partials_.size() < partials) {
    d_partials_ = {};
    d_partials_ = DeviceArray<Conserved>(device_, partials);
  }
}

void ConservedSums::keep(const Vec4* d_positions, const Vec4* d_velocities, const Vec4* d_positions_low,
                         const Vec4* d_velocities_low, int count, cudaStream_t stream) {
  prepare(count, d_positions_low ? Digits::compensated : Digits::single);
  const auto copy = [&](const Vec4* from, const DeviceArray<Vec4>& to) {
    ORRERY_CUDA_CHECK(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(Vec4), cudaMemcpyDefault, stream));
  };
  copy(d_positions, d_positions_);
  copy(d_velocities, d_velocities_);
  if (!d_positions_low) return;
  copy(d_positions_low, d_positions_low_);
  copy(d_velocities_low, d_velocities_low_);
}

void ConservedSums::enqueue(const Law& law, cudaStream_t stream) {
  const int count = static_cast<int>(d_positions_.size());
  const Division by{device_, count};
  const double softening = law.softening;
  const double repulsion = law.id == LawId::attract_repel ? law.repulsion : 0;

  begin_.record(stream);
  const dim3 grid{static_cast<unsigned>(by.tiles), static_cast<unsigned>(by.splits)};
  for (int first = 0; first < by.distances; first += by.per_launch) {
    sum_tiles<<<grid, block, 0, stream>>>(Vectors{d_positions_.data(), d_positions_low_.data()},
                                          Vectors{d_velocities_.data(), d_velocities_low_.data()}, count, first,
                                          std::min(first + by.per_launch, by.distances),
                                          PairPotential{softening * softening, repulsion / 3}, d_partials_.data());
    ORRERY_CUDA_CHECK_LAUNCH(sum_tiles);
  }
  sum_partials<<<1, block, 0, stream>>>(d_partials_.data(), by.partials(), result_.first(1).data());
  ORRERY_CUDA_CHECK_LAUNCH(sum_partials);
  end_.record(stream);
}

}  // namespace orrery::cuda
