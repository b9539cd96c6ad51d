#include <algorithm>
#include <cstdint>

#include "compute/core/vec.h"
#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/diagnostics/diagnostics_cuda.h"

namespace orrery::cuda {
namespace {

/// Bodies per tile, and threads per block of the kernel that sums over tiles.
constexpr int tile_size = 256;
/// Threads per block of all other kernels in this file.
constexpr int block = 128;
/// Number of blocks that keep a multiprocessor busy.
constexpr int blocks_per_multiprocessor = 8;
/// Number of pairs per launch, or more if the tiles at one distance have more. A launch takes a tenth of a second on a
/// GPU that is slow in double precision. The display can be drawn between launches.
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

/// Returns body `i`; beyond the end, a body without mass, which neither pulls nor counts.
__device__ Body body_at(const Vectors& positions, int i, int count) {
  if (i >= count) return {0, 0, 0, 0};
  const Vec3d at = positions[i];
  return {at.x, at.y, at.z, positions.high[i].w};
}

/// The potential energy of a pair, as in conserved.cpp.
struct PairPotential {
  double softening_sq, repulsion_third;
  __device__ double operator()(const Body& a, const Body& b) const {
    const double dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const double inverse = reciprocal_sqrt(dx * dx + dy * dy + dz * dz + softening_sq);
    return b.mass * inverse * (repulsion_third * inverse * inverse - 1);
  }
};

/// Sums over pairs. Block (row, split) takes the bodies in tile `row` and in tile (row + d) modulo the number of tiles,
/// for every gridDim.y-th distance d in [first, end). As distances are at most half of the number of tiles, each pair
/// of tiles occurs once, and all rows have equal work. Later launches add their sums to the partial sums of the first.
__global__ void sum_tiles(Vectors positions, Vectors velocities, int count, int first, int end, PairPotential pair,
                          Conserved* __restrict__ partials) {
  __shared__ Body tile[tile_size];
  const int me = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x);
  const int tiles = static_cast<int>(gridDim.x), splits = static_cast<int>(gridDim.y);
  const int i = row * tile_size + me;
  const Body body = body_at(positions, i, count);
  double potential = 0;
  for (int d = first + static_cast<int>(blockIdx.y); d < end; d += splits) {
    if (2 * d == tiles && row >= d) continue;  // halfway round: the other tile of the pair evaluates it
    const int other = row + d < tiles ? row + d : row + d - tiles;
    __syncthreads();
    tile[me] = body_at(positions, other * tile_size + me, count);
    __syncthreads();
    const int others = d == 0 ? me : tile_size;  // within its own tile, a body is paired only with earlier ones
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
  Sums sum = block_sum<tile_size>(mine);
  if (me != 0) return;
  Conserved& partial = partials[static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x];
  if (first > 0) sum += partial;
  partial = sum;
}

/// Sums all partial sums. Runs as one block.
__global__ void sum_partials(const Conserved* __restrict__ partials, int size, Conserved* __restrict__ result) {
  Sums mine;
  for (int i = static_cast<int>(threadIdx.x); i < size; i += tile_size) mine += partials[i];
  const Sums sum = block_sum<tile_size>(mine);
  if (threadIdx.x == 0) *result = sum;
}

/// Division of the pairs among launches of sum_tiles().
struct Division {
  int tiles, distances, per_launch, splits;

  Division(const Device& device, int count) : tiles{ceil_div(count, tile_size)}, distances{tiles / 2 + 1} {
    const auto most = std::max<std::int64_t>(pairs_per_launch / (std::int64_t{tiles} * tile_size * tile_size), 1);
    per_launch = static_cast<int>(std::min<std::int64_t>(most, distances));
    splits = std::clamp(ceil_div(device.multiprocessors() * blocks_per_multiprocessor, tiles), 1, per_launch);
  }
  int partials() const { return tiles * splits; }
};

__global__ void measure(const Vec4* __restrict__ vectors, int count, float* __restrict__ values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const Vec4 v = vectors[i];
  values[i] = norm3df(v.x, v.y, v.z);
}

/// Number of targets per block. The block reads each body once for all of them.
constexpr int group = 4;

struct Sum : Vec3d {
  __device__ Sum& operator+=(const Vec3d& other) {
    x += other.x, y += other.y, z += other.z;
    return *this;
  }
};

/// Sums pulls on targets. Block (g, split) sums those of every gridDim.y-th part of the bodies on the targets of group
/// g.
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

void ConservedSums::prepare(int count, Digits digits) {
  const auto size = static_cast<std::size_t>(count);
  if (d_velocities_.size() != size) {       // the array that is allocated last
    d_positions_ = {}, d_velocities_ = {};  // frees the old memory first
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
    sum_tiles<<<grid, tile_size, 0, stream>>>(Vectors{d_positions_.data(), d_positions_low_.data()},
                                              Vectors{d_velocities_.data(), d_velocities_low_.data()}, count, first,
                                              std::min(first + by.per_launch, by.distances),
                                              PairPotential{softening * softening, repulsion / 3}, d_partials_.data());
    ORRERY_CUDA_CHECK_LAUNCH(sum_tiles);
  }
  sum_partials<<<1, tile_size, 0, stream>>>(d_partials_.data(), by.partials(), result_.first(1).data());
  ORRERY_CUDA_CHECK_LAUNCH(sum_partials);
  end_.record(stream);
}

void Magnitudes::prepare(int count) {
  const auto size = static_cast<std::size_t>(count);
  if (d_values_.size() >= size && values_.size() >= size) return;
  d_values_ = {};  // frees the old memory first
  values_ = {};
  d_values_ = DeviceArray<float>(device_, size);
  values_ = HostArray<float>(device_, size, /*pinned=*/true);
}

void Magnitudes::enqueue(const Vec4* d_vectors, int count, cudaStream_t stream) {
  count_ = count;
  measure<<<ceil_div(count, block), block, 0, stream>>>(d_vectors, count, d_values_.data());
  ORRERY_CUDA_CHECK_LAUNCH(measure);
  download(d_values_.data(), values_.first(count), stream);
}

std::vector<float> Magnitudes::values() const {
  const std::span<const float> values = values_.first(count_);
  return {values.begin(), values.end()};
}

/// Returns the number of blocks that share the sum of the pulls on a group of targets.
int ForceComparison::splits(int count) const {
  const int groups = ceil_div(targets(), group);
  return std::clamp(ceil_div(device_.multiprocessors() * blocks_per_multiprocessor, groups), 1, ceil_div(count, block));
}

void ForceComparison::prepare(int count, const ComparedBodies& compared) {
  if (count == count_ && compared == compared_) return;
  count_ = 0;  // remains 0 if an allocation fails
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
