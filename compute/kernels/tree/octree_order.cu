#include <algorithm>
#include <cstddef>
#include <cub/device/device_radix_sort.cuh>

#include "compute/cuda/block.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/hilbert.h"
#include "compute/kernels/tree/octree_kernels.h"

namespace orrery {
namespace {

constexpr int block = 256;

__global__ void clear(OctreeState* state) {
  *state = OctreeState::without_bodies();
}

__device__ void extent_of_axis(OctreeState* state, int axis, const Vec4* bodies, int count, float Vec4::*coordinate) {
  float least = INFINITY, most = -INFINITY;
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    const float x = bodies[i].*coordinate;
    least = fminf(least, x);
    most = fmaxf(most, x);
    sum += x;
  }
  sum = cuda::block_sum<block>(sum);
  least = cuda::least_over(cuda::Warp{}, least);
  most = cuda::greatest_over(cuda::Warp{}, most);
  if (threadIdx.x % 32 == 0) {
    atomicMin(&state->least[axis], cuda::ordered_bits(least));
    atomicMax(&state->most[axis], cuda::ordered_bits(most));
  }
  if (threadIdx.x == 0) atomicAdd(&state->sum[axis], sum);
}

__device__ float distance_along_axes(const Vec4& body, const Vec3& center) {
  return fabsf(body.x - center.x) + fabsf(body.y - center.y) + fabsf(body.z - center.z);
}

__device__ void note_mass(OctreeState* state, float mass) {
  mass = cuda::greatest_over(cuda::Warp{}, mass);
  if (threadIdx.x % 32 == 0) atomicMax(&state->most_mass, cuda::ordered_bits(mass));
}

__device__ void greatest_mass(OctreeState* state, const Vec4* bodies, int count) {
  float mass = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    mass = fmaxf(mass, bodies[i].w);
  }
  note_mass(state, mass);
}

__global__ void add_extent(OctreeState* state, const Vec4* __restrict__ bodies, int count) {
  extent_of_axis(state, 0, bodies, count, &Vec4::x);
  extent_of_axis(state, 1, bodies, count, &Vec4::y);
  extent_of_axis(state, 2, bodies, count, &Vec4::z);
  greatest_mass(state, bodies, count);
}

/// From the mean, if the state has the sum.
__global__ void find_deviation(OctreeState* state, const Vec4* __restrict__ bodies, int count) {
  const auto mean = [&](int axis) { return static_cast<float>(state->sum[axis] / count); };
  const Vec3 center{mean(0), mean(1), mean(2)};
  double sum = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    sum += distance_along_axes(bodies[i], center);
  }
  sum = cuda::block_sum<block>(sum);
  if (threadIdx.x == 0) atomicAdd(&state->deviation, sum);
}

/// The extent and the deviation from a center in one pass.
__global__ void add_extent_around(OctreeState* state, const Vec3* known_center, const Vec4* __restrict__ bodies,
                                  int count) {
  const Vec3 center = known_center ? *known_center : Vec3{};
  cuda::Box box;
  double x = 0, y = 0, z = 0, deviation = 0;
  float mass = 0;
  for (int i = static_cast<int>(blockIdx.x * block + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * block)) {
    const Vec4 body = bodies[i];
    const Vec3 place{body.x, body.y, body.z};
    box.add(place, place);
    x += body.x, y += body.y, z += body.z;
    deviation += distance_along_axes(body, center);
    mass = fmaxf(mass, body.w);
  }
  note_mass(state, mass);
  cuda::join_over_block(box);
  x = cuda::block_sum<block>(x), y = cuda::block_sum<block>(y), z = cuda::block_sum<block>(z);
  deviation = cuda::block_sum<block>(deviation);
  if (threadIdx.x > 0) return;
  const double sums[] = {x, y, z};
  const float least[] = {box.low.x, box.low.y, box.low.z}, most[] = {box.high.x, box.high.y, box.high.z};
  for (int axis = 0; axis < 3; ++axis) {
    atomicMin(&state->least[axis], cuda::ordered_bits(least[axis]));
    atomicMax(&state->most[axis], cuda::ordered_bits(most[axis]));
    atomicAdd(&state->sum[axis], sums[axis]);
  }
  atomicAdd(&state->deviation, deviation);
}

__device__ TreeCube cube_of(const OctreeState& state, int count) {
  constexpr float far = 1024;
  const float reach = far * static_cast<float>(state.deviation / count);
  const auto low = [&](int axis) {
    return fmaxf(cuda::from_ordered_bits(state.least[axis]), static_cast<float>(state.sum[axis] / count) - reach);
  };
  const auto high = [&](int axis) {
    return fminf(cuda::from_ordered_bits(state.most[axis]), static_cast<float>(state.sum[axis] / count) + reach);
  };
  return cube_around({low(0), low(1), low(2)}, {high(0), high(1), high(2)}, cuda::from_ordered_bits(state.most_mass));
}

/// A block with a thread for each device. All devices find the same, bit for bit: they add in the same order.
__global__ void __launch_bounds__(most_devices)
    join_extents(const __grid_constant__ OnAll<const OctreeState> extents, int count, TreeCube* cube, Vec3* mean) {
  __shared__ double sums[most_devices][4];
  __shared__ int least[most_devices][3], most[most_devices][3], mass[most_devices];
  if (const auto own = static_cast<int>(threadIdx.x); own < extents.devices) {
    const OctreeState& extent = *extents.of[own];
    for (int axis = 0; axis < 3; ++axis) {
      sums[own][axis] = extent.sum[axis];
      least[own][axis] = extent.least[axis];
      most[own][axis] = extent.most[axis];
    }
    sums[own][3] = extent.deviation;
    mass[own] = extent.most_mass;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  OctreeState all = OctreeState::without_bodies();
  for (int i = 0; i < extents.devices; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      all.sum[axis] += sums[i][axis];
      all.least[axis] = min(all.least[axis], least[i][axis]);
      all.most[axis] = max(all.most[axis], most[i][axis]);
    }
    all.deviation += sums[i][3];
    all.most_mass = max(all.most_mass, mass[i]);
  }
  *cube = cube_of(all, count);
  const auto mean_of = [&](int axis) { return static_cast<float>(all.sum[axis] / count); };
  *mean = {mean_of(0), mean_of(1), mean_of(2)};
}

/// `known`: the cube, or null for the one that the extent and the deviation give.
__global__ void key_bodies(OctreeState* state, const TreeCube* known, const Vec4* __restrict__ bodies, int count,
                           std::uint64_t* __restrict__ keys, int* __restrict__ numbers) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  __shared__ TreeCube cube;
  if (threadIdx.x == 0) cube = known ? *known : cube_of(*state, count);
  __syncthreads();
  if (i == 0) state->cube = cube;
  if (i >= count) return;
  const Vec4 body = bodies[i];
  keys[i] = hilbert_key(cube, body.x, body.y, body.z);
  numbers[i] = i;
}

__global__ void gather(const Vec4* __restrict__ bodies, const int* __restrict__ order, int count,
                       Vec4* __restrict__ sorted) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) sorted[i] = bodies[order[i]];
}

__global__ void mark(Targets targets, unsigned char* is_target) {
  const int place = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (place < targets.count) is_target[targets.body(place)] = 1;
}

cudaError_t sort(void* scratch, std::size_t& bytes, cub::DoubleBuffer<std::uint64_t>& keys,
                 cub::DoubleBuffer<int>& numbers, int count, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, numbers, count, 0, 3 * key_levels, stream);
}

void clear_state(OctreeState* state, cudaStream_t stream) {
  clear<<<1, 1, 0, stream>>>(state);
  ORRERY_CUDA_CHECK_LAUNCH(clear);
}

/// For sums over bodies.
int few_blocks(const cuda::Device& device, int count) {
  return std::min(cuda::ceil_div(count, block), 2 * device.multiprocessors());
}

void key_all(const Octree& tree, const TreeCube* known, const Vec4* bodies, std::uint64_t* keys, int* numbers,
             cudaStream_t stream) {
  key_bodies<<<cuda::ceil_div(tree.count, block), block, 0, stream>>>(tree.state, known, bodies, tree.count, keys,
                                                                      numbers);
  ORRERY_CUDA_CHECK_LAUNCH(key_bodies);
}

}  // namespace

void find_extent_around(const cuda::Device& device, const Vec3* center, OctreeState* state, const Vec4* bodies,
                        int count, cudaStream_t stream) {
  constexpr int blocks_per_processor = 4;  // so that enough loads are in flight
  const int blocks = std::min(cuda::ceil_div(count, block), blocks_per_processor * device.multiprocessors());
  add_extent_around<<<blocks, block, 0, stream>>>(state, center, bodies, count);
  ORRERY_CUDA_CHECK_LAUNCH(add_extent_around);
}

void find_cube(const OnAll<const OctreeState>& extents, int of_all, TreeCube* cube, Vec3* mean, cudaStream_t stream) {
  join_extents<<<1, most_devices, 0, stream>>>(extents, of_all, cube, mean);
  ORRERY_CUDA_CHECK_LAUNCH(join_extents);
}

void find_keys(const cuda::Device& device, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
               cudaStream_t stream) {
  const int blocks = few_blocks(device, tree.count);
  clear_state(tree.state, stream);
  add_extent<<<blocks, block, 0, stream>>>(tree.state, bodies, tree.count);
  ORRERY_CUDA_CHECK_LAUNCH(add_extent);
  find_deviation<<<blocks, block, 0, stream>>>(tree.state, bodies, tree.count);
  ORRERY_CUDA_CHECK_LAUNCH(find_deviation);
  key_all(tree, /*known=*/nullptr, bodies, keys, numbers, stream);
}

void find_keys_in(const TreeCube* cube, const Octree& tree, const Vec4* bodies, std::uint64_t* keys, int* numbers,
                  cudaStream_t stream) {
  clear_state(tree.state, stream);
  key_all(tree, cube, bodies, keys, numbers, stream);
}

std::size_t sort_bytes(const cuda::Device& device, int count) {
  device.activate();
  std::size_t bytes = 0;
  cub::DoubleBuffer<std::uint64_t> keys;
  cub::DoubleBuffer<int> numbers;
  ORRERY_CUDA_CHECK(sort(nullptr, bytes, keys, numbers, count, nullptr));
  return bytes;
}

void sort_keys(KeyBuffers& buffers, int count, void* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  cub::DoubleBuffer<std::uint64_t> keys{buffers.keys, buffers.other_keys};
  cub::DoubleBuffer<int> numbers{buffers.numbers, buffers.other_numbers};
  ORRERY_CUDA_CHECK(sort(scratch, scratch_bytes, keys, numbers, count, stream));
  buffers = {keys.Current(), keys.Alternate(), numbers.Current(), numbers.Alternate()};
}

void gather_bodies(const Vec4* bodies, const int* order, int count, Vec4* sorted, cudaStream_t stream) {
  gather<<<cuda::ceil_div(count, block), block, 0, stream>>>(bodies, order, count, sorted);
  ORRERY_CUDA_CHECK_LAUNCH(gather);
}

void mark_targets(const Targets& targets, int count, unsigned char* is_target, cudaStream_t stream) {
  ORRERY_CUDA_CHECK(cudaMemsetAsync(is_target, 0, static_cast<std::size_t>(count), stream));
  mark<<<cuda::ceil_div(targets.count, block), block, 0, stream>>>(targets, is_target);
  ORRERY_CUDA_CHECK_LAUNCH(mark);
}

}  // namespace orrery
