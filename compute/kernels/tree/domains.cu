#include <cooperative_groups.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <string>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/tree/domains.h"
#include "compute/kernels/tree/octree.h"
#include "compute/kernels/tree/tree_cube.h"

namespace orrery {
namespace {

namespace cg = cooperative_groups;

constexpr int digits = DomainBorder::digits;  ///< also the number of threads in a block that counts digits

// The search for borders.

constexpr int borders_at_once = 16;  ///< number of borders whose keys are counted in one pass, in 32 KB of shared
                                     ///< memory

/// Borders during the search, in a block's shared memory.
struct SearchedBorders {
  DomainBorder at[most_borders];
  /// Index of the first border in the same cell as each border. Borders in one cell share its histogram.
  int first_in_cell[most_borders];

  __device__ void find_first_in_cell(int border) {
    int first = border;
    while (first > 0 && at[first - 1].begin == at[border].begin) --first;
    first_in_cell[border] = first;
  }
  __device__ bool counts_keys(int border) const { return first_in_cell[border] == border && !at[border].found(); }
  __device__ bool all_found(int count) const {
    for (int i = 0; i < count; ++i) {
      if (!at[i].found()) return false;
    }
    return true;
  }
};

/// Adds the digits of `count` keys to the histograms of borders [first, last), which are consecutive. A border counts
/// only the keys in its cell. All threads of the grid must call this.
__device__ void count_digits(const std::uint64_t* keys, int count, const SearchedBorders& borders, int first, int last,
                             int* histograms) {
  constexpr int block = DomainBorder::digits;
  __shared__ int counts[borders_at_once][DomainBorder::digits];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = first; i < last; ++i) counts[i - first][thread] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x) * block + thread; i < count; i += static_cast<int>(gridDim.x) * block) {
    const std::uint64_t key = keys[i];
    for (int border = first; border < last; ++border) {
      const DomainBorder& cell = borders.at[border];
      if (borders.counts_keys(border) && cell.has(key)) atomicAdd(&counts[border - first][cell.digit(key)], 1);
    }
  }
  __syncthreads();
  for (int i = first; i < last; ++i) {
    if (const int found = counts[i - first][thread]; found > 0) {
      atomicAdd(histograms + i * DomainBorder::digits + thread, found);
    }
  }
  __syncthreads();  // before the next call changes `counts`
}

/// Calls count_digits() for all borders.
__device__ void count_all_digits(const std::uint64_t* keys, int count, const SearchedBorders& borders, int border_count,
                                 int* histograms) {
  for (int first = 0; first < border_count; first += borders_at_once) {
    count_digits(keys, count, borders, first, min(first + borders_at_once, border_count), histograms);
  }
}

/// Narrows `cell` to the digit that has the body of the border's rank. One thread stores the result in `found`.
/// `inside`: number of keys in the cell with this thread's digit. All threads of the block must call this.
__device__ void narrow(const DomainBorder& cell, int rank_of_all, int inside, DomainBorder& found) {
  using Scan = cub::BlockScan<int, DomainBorder::digits>;
  __shared__ typename Scan::TempStorage storage;
  int smaller = 0;
  Scan{storage}.ExclusiveSum(inside, smaller);
  const int rank = rank_of_all - cell.before, digit = static_cast<int>(threadIdx.x);
  __syncthreads();  // the storage is free again
  if (smaller <= rank && rank < smaller + inside) found = cell.at_digit(digit, smaller, inside);
  __syncthreads();
}

// Places of bodies among all bodies.

constexpr int most_stretches = 2 * most_borders + 1;
constexpr int stretch_block = 256;  ///< threads per block, one per body

static_assert(most_stretches <= stretch_block);

__device__ void put_body(const ResidentBodies& from, int i, const ResidentBodies& to, int place) {
  to.positions[place] = from.positions[i];
  to.velocities[place] = from.velocities[i];
  to.ids[place] = from.ids[i];
}

/// Loads the borders into shared memory. All threads of the block must call this.
__device__ void load_cells(DomainBorder* borders, const Stretches& stretches) {
  if (static_cast<int>(threadIdx.x) < stretches.border_count()) borders[threadIdx.x] = stretches.borders[threadIdx.x];
  __syncthreads();
}

/// Counts a block's bodies per stretch. Finds the stretch of this thread's body, number `i` of `count`, and its place
/// among the block's bodies in that stretch. All threads of the block must call this.
struct InBlock {
  int stretch, place;

  __device__ InBlock(const Stretches& stretches, int i, int count, const DomainBorder* borders, int* counts) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < stretches.count()) counts[thread] = 0;
    __syncthreads();
    stretch = i < count ? stretch_of(stretches.keys[i], borders, stretches.border_count()) : -1;
    place = stretch >= 0 ? atomicAdd(&counts[stretch], 1) : 0;
    __syncthreads();
  }
};

/// Sets places[s] to the place, among all bodies, of this device's first body in stretch s. Leaves it unset if the
/// device has none there. Needs one thread per border. Borders in one cell share the stretches before and in it.
__device__ void find_places(const Stretches& stretches, const DomainBorder* borders, int* places) {
  const int first = static_cast<int>(threadIdx.x), border_count = stretches.border_count();
  if (first >= border_count) return;
  DomainBorder before{};  // initially a cell without bodies
  EarlierBodies earlier_before{};
  if (first > 0) {
    before = borders[first - 1];
    earlier_before = stretches.of_earlier[first - 1];
  }
  const DomainBorder cell = borders[first];
  const EarlierBodies earlier = stretches.of_earlier[first];
  if (first == 0 || before.begin != cell.begin) {
    int last = first;
    while (last + 1 < border_count && borders[last + 1].begin == cell.begin) ++last;
    places[2 * first] = before.before + before.inside + earlier.before - earlier_before.before - earlier_before.inside;
    places[first + last + 1] = cell.before + earlier.inside;
  }
  if (first + 1 < border_count) return;
  places[2 * border_count] = cell.before + cell.inside + stretches.earlier - earlier.before - earlier.inside;
}

/// Stretch of a body, and its unique place among all bodies. Stretch -1: no body.
struct PlacedBody {
  int stretch, place;
};

/// Places this thread's body, number `i` of `count`. `taken`: number of places taken so far, by stretch. All threads of
/// the block must call this.
__device__ PlacedBody place_body(const Stretches& stretches, int i, int count, int* taken) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  const auto thread = static_cast<int>(threadIdx.x);
  load_cells(borders, stretches);
  find_places(stretches, borders, places);
  const InBlock body{stretches, i, count, borders, counts};
  if (thread < stretches.count() && counts[thread] > 0) places[thread] += atomicAdd(&taken[thread], counts[thread]);
  __syncthreads();
  return {body.stretch, body.stretch < 0 ? 0 : places[body.stretch] + body.place};
}

constexpr int block = stretch_block;

/// Size of a shipment: 1 / shipments_of_all of the bodies that a device can have, but at least `least_room` bodies.
constexpr int shipments_of_all = 8, least_room = 1 << 16;

/// Order of a device's bodies by stretch, which also orders them by destination.
struct Plan {
  int* counts;       ///< this device's bodies, by stretch
  int* shifts;       ///< for each stretch: a body's place in this order minus its place among all bodies
  int* taken;        ///< number of places taken so far, by stretch
  int* first_going;  ///< for each device: first body, in this order, that goes there
  int* going;        ///< for each device: number of bodies that go there

  Plan(int* numbers, int* of_going)
      : counts{numbers},
        shifts{counts + most_stretches},
        taken{shifts + most_stretches},
        first_going{taken + most_stretches},
        going{of_going} {}
  static constexpr std::size_t numbers = 3 * std::size_t{most_stretches} + most_devices;
};

struct Sending {
  ResidentBodies from;
  Stretches stretches;
  int* taken;  ///< number of places taken so far, by stretch
  SmallBorders small;
  int* steps_needed;  ///< see DomainMigration::Move
  ResidentBodies to[most_devices];
};

__global__ void __launch_bounds__(block) send_bodies(const __grid_constant__ Sending sending) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  const FirstBodies& first = sending.stretches.first;
  const PlacedBody body = place_body(sending.stretches, i, sending.from.count, sending.taken);
  if (sending.steps_needed && i == 0) *sending.steps_needed = sending.small.steps_needed();
  if (body.stretch < 0) return;
  const int domain = first.domain_of(body.place);
  put_body(sending.from, i, sending.to[domain], body.place - first.of[domain]);
}

/// Loads the borders into shared memory. All threads of the block must call this.
__device__ void load(SearchedBorders& borders, const DomainBorder* from, int border_count) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < border_count) borders.at[thread] = from[thread];
  __syncthreads();
  if (thread < border_count) borders.find_first_in_cell(thread);
  __syncthreads();
}

/// One step of the search for borders, on one of several devices.
struct Step {
  OnAll<const int> histograms;
  std::size_t first_histogram;  ///< index of this step's first entry
  int own;                      ///< index of this device
  FirstBodies first;
  const DomainBorder* from;
  const EarlierBodies* earlier_from;
  DomainBorder* to;
  EarlierBodies* earlier_to;
};

/// Narrows all borders by one step, with one block per border.
__global__ void __launch_bounds__(digits) narrow_borders(const __grid_constant__ Step step) {
  using Scan = cub::BlockScan<int, digits>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ SearchedBorders borders;
  __shared__ DomainBorder found;
  const int border = static_cast<int>(blockIdx.x), digit = static_cast<int>(threadIdx.x);
  load(borders, step.from, step.first.domains - 1);
  const DomainBorder cell = borders.at[border];
  const EarlierBodies earlier = step.earlier_from[border];
  if (cell.found()) {
    if (digit > 0) return;
    step.to[border] = cell;
    step.earlier_to[border] = earlier;
    return;
  }
  const std::size_t entry =
      step.first_histogram + static_cast<std::size_t>(borders.first_in_cell[border]) * digits + threadIdx.x;
  int inside = 0, inside_earlier = 0;
  for (int i = 0; i < step.histograms.devices; ++i) {
    const int of_device = step.histograms.of[i][entry];
    inside += of_device;
    if (i < step.own) inside_earlier += of_device;
  }
  int smaller_earlier = 0;
  Scan{storage}.ExclusiveSum(inside_earlier, smaller_earlier);
  narrow(cell, step.first.of[border + 1], inside, found);
  if (digit != cell.digit(found.begin)) return;
  step.to[border] = found;
  step.earlier_to[border] = {earlier.before + smaller_earlier, inside_earlier};
}

__global__ void __launch_bounds__(digits)
    count_step(const std::uint64_t* keys, int count, const DomainBorder* from, int border_count, int* histograms) {
  __shared__ SearchedBorders borders;
  load(borders, from, border_count);
  if (borders.all_found(border_count)) return;
  count_all_digits(keys, count, borders, border_count, histograms);
}

/// Computes the keys and makes the first step, in which all borders are in the root cell.
__global__ void __launch_bounds__(digits) key_bodies(const TreeCube* known, const Vec4* __restrict__ bodies, int count,
                                                     int of_all, std::uint64_t* __restrict__ keys, int* histogram) {
  __shared__ int counts[digits];
  const auto thread = static_cast<int>(threadIdx.x);
  const TreeCube cube = *known;
  const DomainBorder root = DomainBorder::of_all(0, of_all);
  counts[thread] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x) * digits + thread; i < count; i += static_cast<int>(gridDim.x) * digits) {
    const Vec4 body = bodies[i];
    const std::uint64_t key = hilbert_key(cube, body.x, body.y, body.z);
    keys[i] = key;
    atomicAdd(&counts[root.digit(key)], 1);
  }
  __syncthreads();
  if (counts[thread] > 0) atomicAdd(histogram + thread, counts[thread]);
}

/// Initial state of a search.
struct SearchBegin {
  FirstBodies first;
  int of_all, earlier;  ///< number of all bodies; number of bodies on the devices before this one
  OctreeState* extents;
  int passes;
  DomainBorder* borders;
  EarlierBodies* of_earlier;  ///< one entry per border
  int *histograms, entries;
  int* taken;
};

__global__ void __launch_bounds__(block) clear_search(const __grid_constant__ SearchBegin begin) {
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  if (i < begin.entries) begin.histograms[i] = 0;
  if (blockIdx.x > 0) return;
  if (thread < begin.passes) begin.extents[thread] = OctreeState::without_bodies();
  if (thread < most_stretches) begin.taken[thread] = 0;
  if (thread >= begin.first.domains - 1) return;
  begin.borders[thread] = DomainBorder::of_all(begin.first.of[thread + 1], begin.of_all);
  begin.of_earlier[thread] = {0, begin.earlier};
}

/// Replaces the key of a body that stays. Bodies that leave have their place among these instead.
constexpr auto stays = ~std::uint64_t{0};

/// Packs a shipment after the first. It begins with place `first` of the bodies that leave.
__global__ void __launch_bounds__(block) pack_next(const ResidentBodies from, const std::uint64_t* becomes, int first,
                                                   const ResidentBodies leaving, int room) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i >= from.count || becomes[i] == stays) return;
  const int place = static_cast<int>(becomes[i]) - first;
  if (place >= 0 && place < room) put_body(from, i, leaving, place);
}

struct Packing {
  ResidentBodies from;
  Stretches stretches;
  Plan plan;
  int own;  ///< index of this device
  ResidentBodies staying, leaving;
  int room;  ///< capacity for bodies that leave
};

/// Copies the bodies that stay, and packs the first shipment. Replaces each body's key by its place among the bodies
/// that leave, or by `stays`.
__global__ void __launch_bounds__(block) pack_first(const __grid_constant__ Packing packing) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  const Stretches& stretches = packing.stretches;
  const PlacedBody body = place_body(stretches, i, packing.from.count, packing.plan.taken);
  if (body.stretch < 0) return;
  const int device = stretches.first.domain_of(body.place);
  const int in_order = body.place + packing.plan.shifts[body.stretch];
  if (device == packing.own) {
    stretches.keys[i] = stays;
    return put_body(packing.from, i, packing.staying, in_order - packing.plan.first_going[packing.own]);
  }
  const int place = in_order - (device > packing.own ? packing.plan.going[packing.own] : 0);
  stretches.keys[i] = static_cast<std::uint64_t>(place);
  if (place < packing.room) put_body(packing.from, i, packing.leaving, place);
}

/// Makes the plan. Runs as one block.
__global__ void __launch_bounds__(block) make_plan(const __grid_constant__ Stretches stretches, const Plan plan,
                                                   const SmallBorders small, int* steps_needed) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  __shared__ int going[most_devices];
  const int thread = static_cast<int>(threadIdx.x), devices = stretches.first.domains;
  load_cells(borders, stretches);
  find_places(stretches, borders, places);
  if (thread < stretches.count()) counts[thread] = plan.counts[thread];
  __syncthreads();
  if (thread < devices) {
    const int first = stretches.first.of[thread];
    const bool is_last = thread + 1 == devices;
    int sum = 0;
    for (int s = 0; s < stretches.count(); ++s) {
      if (counts[s] == 0) continue;
      const int end = places[s] + counts[s];
      sum += max((is_last ? end : min(end, stretches.first.of[thread + 1])) - max(places[s], first), 0);
    }
    going[thread] = sum;
  }
  if (thread < stretches.count()) {
    int before = 0;
    for (int s = 0; s < thread; ++s) before += counts[s];
    plan.shifts[thread] = before - places[thread];
    plan.taken[thread] = 0;
  }
  __syncthreads();
  if (thread < devices) {
    int before = 0;
    for (int device = 0; device < thread; ++device) before += going[device];
    plan.first_going[thread] = before;
    plan.going[thread] = going[thread];
  }
  if (steps_needed && thread == 0) *steps_needed = small.steps_needed();
}

__global__ void __launch_bounds__(block)
    count_stretches(const __grid_constant__ Stretches stretches, int bodies, int* of_all) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches];
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  load_cells(borders, stretches);
  const InBlock body{stretches, i, bodies, borders, counts};
  if (thread < stretches.count() && counts[thread] > 0) atomicAdd(&of_all[thread], counts[thread]);
}

auto blocks_of(const ResidentBodies& bodies, ShipmentPlan::Interval some) -> PartitionFacet::Blocks {
  const auto size = static_cast<std::size_t>(some.count);
  return {{bodies.positions + some.first, size * sizeof(Vec4)},
          {bodies.velocities + some.first, size * sizeof(Vec4)},
          {bodies.ids + some.first, size * sizeof(int)}};
}

/// Returns the number of blocks for kernels with one thread per digit.
int blocks_to_count(const cuda::Device& device, int bodies) {
  constexpr int blocks_per_processor = 4;  // keeps enough loads in flight
  return std::min(cuda::ceil_div(bodies, digits), blocks_per_processor * device.multiprocessors());
}

__global__ void take_in_order(const ResidentBodies from, const int* __restrict__ order, const ResidentBodies to) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i >= to.count) return;
  put_body(from, order[i], to, i);
}

// Sort of the bodies that one device has.

struct Search {
  const std::uint64_t* keys;
  int count;
  int borders;
  int* histograms;           ///< one entry per step, border and digit; initially zero
  unsigned char* stretches;  ///< result: stretch of each body
  int ranks[most_borders];

  /// Returns the histogram of the first border in this step; those of the other borders follow.
  __device__ int* histograms_of(int step) const { return histograms + step * borders * digits; }
};

/// Finds the borders, then the stretch of each body. All blocks find the same borders.
__global__ void __launch_bounds__(digits) find_stretches(const __grid_constant__ Search search) {
  __shared__ SearchedBorders borders;
  const auto grid = cg::this_grid();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < search.borders) borders.at[thread] = DomainBorder::of_all(search.ranks[thread], search.count);
  __syncthreads();
  for (int step = 0; step < DomainMigration::most_steps && !borders.all_found(search.borders); ++step) {
    if (thread < search.borders) borders.find_first_in_cell(thread);
    __syncthreads();
    count_all_digits(search.keys, search.count, borders, search.borders, search.histograms_of(step));
    grid.sync();
    for (int border = 0; border < search.borders; ++border) {
      const DomainBorder cell = borders.at[border];
      if (cell.found()) continue;
      const int* const histogram = search.histograms_of(step) + borders.first_in_cell[border] * digits;
      narrow(cell, search.ranks[border], histogram[thread], borders.at[border]);
    }
  }
  for (int i = static_cast<int>(blockIdx.x) * digits + thread; i < search.count;
       i += static_cast<int>(gridDim.x) * digits) {
    search.stretches[i] = static_cast<unsigned char>(stretch_of(search.keys[i], borders.at, search.borders));
  }
}

/// Sorts numbers by stretch. Stable: numbers of one stretch keep their order.
cudaError_t sort_stretches(void* space, std::size_t& bytes, cub::DoubleBuffer<unsigned char>& stretches,
                           cub::DoubleBuffer<int>& numbers, int count, int borders, cudaStream_t stream) {
  const int bits = std::bit_width(static_cast<unsigned>(2 * borders));
  return cub::DeviceRadixSort::SortPairs(space, bytes, stretches, numbers, count, 0, bits, stream);
}

}  // namespace

void DomainSort::prepare(int borders) {
  take_scratch(device_, histograms_, static_cast<std::size_t>(DomainMigration::most_steps * borders * digits),
               "cuda-tree: the counts of keys", "fewer devices");
}

std::size_t DomainSort::sort_bytes(const cuda::Device& device, int count) {
  device.activate();
  std::size_t bytes = 0;
  cub::DoubleBuffer<unsigned char> stretches;
  cub::DoubleBuffer<int> numbers;
  ORRERY_CUDA_CHECK(sort_stretches(nullptr, bytes, stretches, numbers, count, most_borders, nullptr));
  return bytes;
}

int* DomainSort::order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream) {
  Search search{.keys = keys.keys,
                .count = keys.count,
                .borders = static_cast<int>(ranks.size()),
                .histograms = histograms_.data(),
                .stretches = space.stretches,
                .ranks = {}};
  std::ranges::copy(ranks, search.ranks);
  const std::size_t counts = static_cast<std::size_t>(DomainMigration::most_steps * search.borders * digits);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(search.histograms, 0, counts * sizeof(int), stream));
  const int resident = cuda::known_resident_blocks(device_, find_stretches, digits);
  const int blocks = std::min(cuda::ceil_div(keys.count, digits), std::min(resident, 2) * device_.multiprocessors());
  void* arguments[] = {&search};
  ORRERY_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(find_stretches),
                                                dim3(static_cast<unsigned>(blocks)), dim3(digits), arguments, 0,
                                                stream));
  cub::DoubleBuffer<unsigned char> stretches{space.stretches, space.stretches + keys.count};
  cub::DoubleBuffer<int> numbers{keys.numbers, keys.other_numbers};
  std::size_t bytes = space.sort_bytes;
  ORRERY_CUDA_CHECK(sort_stretches(space.sort_space, bytes, stretches, numbers, keys.count, search.borders, stream));
  return numbers.Current();
}

void DomainShipment::prepare(int index, int devices, int most_bodies, const ResidentBodies& arrived) {
  index_ = index;
  devices_ = devices;
  arrived_ = arrived;
  room_ = std::min(std::max(most_bodies / shipments_of_all, least_room), most_bodies);
  const auto take = [&](auto& array, std::size_t size) {
    take_scratch(device_, array, size, "cuda-tree: the bodies that ranks send each other", "fewer bodies");
  };
  for (auto* array : {&positions_, &velocities_}) take(*array, static_cast<std::size_t>(room_));
  take(ids_, static_cast<std::size_t>(room_));
  take(numbers_, Plan::numbers);
  const auto pairs = static_cast<std::size_t>(devices * devices);
  take(all_going_, pairs);
  if (going_.size() < pairs) going_ = {device_, pairs, /*pinned=*/true};
}

void DomainShipment::forget() {
  positions_ = {}, velocities_ = {}, ids_ = {};
}

DeviceBlock DomainShipment::going_from(int device) const {
  return {all_going_.data() + device * devices_, static_cast<std::size_t>(devices_) * sizeof(int)};
}

ResidentBodies DomainShipment::buffer() const {
  return {.positions = positions_.data(), .velocities = velocities_.data(), .ids = ids_.data()};
}

void DomainShipment::plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small,
                          int* steps_needed, cudaStream_t stream) {
  from_ = from;
  stretches_ = stretches;
  const Plan plan{numbers_.data(), static_cast<int*>(going_from(index_).data)};
  const int blocks = cuda::ceil_div(from.count, block);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(plan.counts, 0, most_stretches * sizeof(int), stream));
  count_stretches<<<blocks, block, 0, stream>>>(stretches, from.count, plan.counts);
  ORRERY_CUDA_CHECK_LAUNCH(count_stretches);
  make_plan<<<1, block, 0, stream>>>(stretches, plan, small, steps_needed);
  ORRERY_CUDA_CHECK_LAUNCH(make_plan);
  pack_first<<<blocks, block, 0, stream>>>({.from = from,
                                            .stretches = stretches,
                                            .plan = plan,
                                            .own = index_,
                                            .staying = arrived_,
                                            .leaving = buffer(),
                                            .room = room_});
  ORRERY_CUDA_CHECK_LAUNCH(pack_first);
}

int DomainShipment::begin(const std::function<void()>& wait, cudaStream_t stream) {
  const std::span<int> going = going_.first(devices_ * devices_);
  cuda::download<int>(all_going_.data(), going, stream);
  wait();
  plan_ = {devices_, room_, going};
  return plan_.shipments();
}

auto DomainShipment::leaving(int shipment, cudaStream_t stream) -> std::vector<Blocks> {
  if (shipment > 0) {
    pack_next<<<cuda::ceil_div(from_.count, block), block, 0, stream>>>(from_, stretches_.keys, shipment * room_,
                                                                        buffer(), room_);
    ORRERY_CUDA_CHECK_LAUNCH(pack_next);
  }
  std::vector<Blocks> blocks(static_cast<std::size_t>(devices_));
  for (int to = 0; to < devices_; ++to) {
    if (to == index_) continue;
    blocks[static_cast<std::size_t>(to)] = blocks_of(buffer(), plan_.leaving(shipment, index_, to));
  }
  return blocks;
}

auto DomainShipment::arriving(int shipment) const -> std::vector<Blocks> {
  std::vector<Blocks> blocks(static_cast<std::size_t>(devices_));
  for (int from = 0; from < devices_; ++from) {
    if (from == index_) continue;
    blocks[static_cast<std::size_t>(from)] = blocks_of(arrived_, plan_.arriving(shipment, from, index_));
  }
  return blocks;
}

void DomainMigration::prepare(int most_bodies, int index, int devices, const ResidentBodies& arrived) {
  index_ = index;
  devices_ = devices;
  most_bodies_ = most_bodies;
  arrived_ = arrived;
  const auto size = static_cast<std::size_t>(most_bodies);
  const auto borders = static_cast<std::size_t>(devices - 1);
  const auto take = [this](auto& array, std::size_t entries) {
    take_scratch(device_, array, entries, "cuda-tree: the bodies that the devices hold", "fewer bodies");
  };
  take(velocities_, size);
  take(ids_, size);
  take(extents_, extent_passes);
  take(mean_, 1);
  take(cube_, 1);
  take(borders_, (most_steps + 1) * borders);
  take(earlier_, (most_steps + 1) * borders);
  take(histograms_, most_steps * borders * digits);
  take(taken_, most_stretches);
  knows_mean_ = has_copies_ = false;
}

void DomainMigration::prepare_copies() {
  const std::string what = "cuda-tree: what ranks find of their bodies";
  take_scratch(device_, extents_, extents_before(devices_), what, "fewer ranks");
  take_scratch(device_, histograms_, histograms_before(devices_), what, "fewer ranks");
  shipment_.prepare(index_, devices_, most_bodies_, arrived_);
  has_copies_ = true;
  for (auto& extents : all_extents_) extents.devices = devices_;
  all_histograms_.devices = devices_;
  for (int i = 0; i < devices_; ++i) {
    for (int pass = 0; pass < extent_passes; ++pass) {
      all_extents_[pass].of[i] = extents_.data() + extents_before(i) + pass;
    }
    all_histograms_.of[i] = histograms_.data() + histograms_before(i);
  }
}

DeviceBlock DomainMigration::found_in(int round, int index) const {
  if (round < passes_) return {extents_.data() + extents_before(index) + round, sizeof(OctreeState)};
  const int step = round - passes_;
  if (step == steps_) return shipment_.going_from(index);
  return {histograms_.data() + histograms_before(index) + histograms_of(step), histograms_of(1) * sizeof(int)};
}

void DomainMigration::forget() {
  velocities_ = {};
  ids_ = {};
  arrived_ = {};
  shipment_.forget();
}

void DomainMigration::connect(std::span<const DomainMigration* const> all) {
  const auto devices = static_cast<int>(all.size());
  for (auto& extents : all_extents_) extents.devices = devices;
  all_histograms_.devices = devices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (int pass = 0; pass < extent_passes; ++pass) all_extents_[pass].of[i] = all[i]->own_extents() + pass;
    all_histograms_.of[i] = all[i]->own_histograms();
    all_arrived_[i] = all[i]->arrived();
  }
}

std::size_t DomainMigration::histograms_of(int step) const {
  return static_cast<std::size_t>(step * borders()) * digits;
}

void DomainMigration::begin(int rounds) {
  passes_ = passes();
  steps_ = rounds - passes_ - 1;
  knows_mean_ = true;
}

void DomainMigration::round(int number, const Move& move, cudaStream_t stream) {
  if (number < passes_) return find_extent(number, move, stream);
  const int step = number - passes_;
  if (step == 0) return make_keys(move, stream);
  narrow(step - 1, move, stream);
  if (step < steps_) return count_digits(step, move, stream);
  send(move, stream);
}

void DomainMigration::find_extent(int pass, const Move& move, cudaStream_t stream) {
  const bool knows_mean = pass > 0 || passes_ == 1;
  if (pass == 0) begin_search(move, stream);
  if (pass > 0) find_cube(all_extents_[pass - 1], move.of_all, cube_.data(), mean_.data(), stream);
  find_extent_around(device_, knows_mean ? mean_.data() : nullptr, own_extents() + pass, move.from.positions,
                     move.from.count, stream);
}

void DomainMigration::begin_search(const Move& move, cudaStream_t stream) {
  const SearchBegin begin{.first = move.to.first_bodies(),
                          .of_all = move.of_all,
                          .earlier = move.earlier,
                          .extents = own_extents(),
                          .passes = passes_,
                          .borders = borders_at(0),
                          .of_earlier = earlier_at(0),
                          .histograms = own_histograms(),
                          .entries = static_cast<int>(histograms_of(steps_)),
                          .taken = taken_.data()};
  clear_search<<<cuda::ceil_div(begin.entries, block), block, 0, stream>>>(begin);
  ORRERY_CUDA_CHECK_LAUNCH(clear_search);
}

void DomainMigration::make_keys(const Move& move, cudaStream_t stream) {
  find_cube(all_extents_[passes_ - 1], move.of_all, cube_.data(), mean_.data(), stream);
  key_bodies<<<blocks_to_count(device_, move.from.count), digits, 0, stream>>>(
      cube_.data(), move.from.positions, move.from.count, move.of_all, move.keys, own_histograms());
  ORRERY_CUDA_CHECK_LAUNCH(key_bodies);
}

void DomainMigration::count_digits(int step, const Move& move, cudaStream_t stream) {
  count_step<<<blocks_to_count(device_, move.from.count), digits, 0, stream>>>(
      move.keys, move.from.count, borders_at(step), borders(), own_histograms() + histograms_of(step));
  ORRERY_CUDA_CHECK_LAUNCH(count_step);
}

void DomainMigration::narrow(int step, const Move& move, cudaStream_t stream) {
  const Step next{.histograms = all_histograms_,
                  .first_histogram = histograms_of(step),
                  .own = index_,
                  .first = move.to.first_bodies(),
                  .from = borders_at(step),
                  .earlier_from = earlier_at(step),
                  .to = borders_at(step + 1),
                  .earlier_to = earlier_at(step + 1)};
  narrow_borders<<<borders(), digits, 0, stream>>>(next);
  ORRERY_CUDA_CHECK_LAUNCH(narrow_borders);
}

Stretches DomainMigration::stretches_of(const Move& move) const {
  return {.borders = borders_at(steps_),
          .of_earlier = earlier_at(steps_),
          .earlier = move.earlier,
          .keys = move.keys,
          .first = move.to.first_bodies()};
}

SmallBorders DomainMigration::small_borders(const Move& move) const {
  return {.of_steps = borders_at(0),
          .steps = steps_,
          .borders = borders(),
          .most = move.of_all / (SmallBorders::bodies_per_small * devices_)};
}

void DomainMigration::send(const Move& move, cudaStream_t stream) {
  if (has_copies_) {
    return shipment_.plan(move.from, stretches_of(move), small_borders(move), move.steps_needed, stream);
  }
  Sending sending{.from = move.from,
                  .stretches = stretches_of(move),
                  .taken = taken_.data(),
                  .small = small_borders(move),
                  .steps_needed = move.steps_needed,
                  .to = {}};
  std::copy_n(all_arrived_, devices_, sending.to);
  send_bodies<<<cuda::ceil_div(move.from.count, block), block, 0, stream>>>(sending);
  ORRERY_CUDA_CHECK_LAUNCH(send_bodies);
}

void DomainMigration::take(const int* order, const ResidentBodies& to, cudaStream_t stream) const {
  take_in_order<<<cuda::ceil_div(to.count, block), block, 0, stream>>>(arrived_, order, to);
  ORRERY_CUDA_CHECK_LAUNCH(take_in_order);
}

}  // namespace orrery
