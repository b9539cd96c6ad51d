#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/border_search.h"
#include "compute/kernels/tree/domain_migration.h"
#include "compute/kernels/tree/hilbert.h"
#include "compute/kernels/tree/octree_kernels.h"

namespace orrery {
namespace {

constexpr int block = 256;
constexpr int digits = DomainBorder::digits;
constexpr int most_stretches = 2 * most_borders + 1;
/// A border's cell is small if it has one of so many bodies of a domain. In a larger one, the trees of two domains
/// overlap, and walks of its bodies meet twice the cells.
constexpr int bodies_per_small = 1024;

/// Of a thread for each digit.
int blocks_to_count(const cuda::Device& device, int bodies) {
  constexpr int blocks_per_processor = 4;  // so that enough loads are in flight
  return std::min(cuda::ceil_div(bodies, digits), blocks_per_processor * device.multiprocessors());
}

/// What a search begins with.
struct SearchBegin {
  FirstBodies first;
  int of_all, earlier;  ///< bodies; and those of the devices before this one
  OctreeState* extents;
  int passes;
  DomainBorder* borders;
  EarlierBodies* of_earlier;  ///< by border
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

/// In every block.
__device__ void load(SearchedBorders& borders, const DomainBorder* from, int border_count) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < border_count) borders.at[thread] = from[thread];
  __syncthreads();
  if (thread < border_count) borders.find_first_in_cell(thread);
  __syncthreads();
}

/// The keys, and the first step: all borders are in the root cell then.
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

__global__ void __launch_bounds__(digits)
    count_step(const std::uint64_t* keys, int count, const DomainBorder* from, int border_count, int* histograms) {
  __shared__ SearchedBorders borders;
  load(borders, from, border_count);
  if (borders.all_found(border_count)) return;
  count_all_digits(keys, count, borders, border_count, histograms);
}

/// A step of the search on one of several devices.
struct Step {
  OnAll<const int> histograms;
  std::size_t first_histogram;  ///< of this step
  int own;                      ///< device
  FirstBodies first;
  const DomainBorder* from;
  const EarlierBodies* earlier_from;
  DomainBorder* to;
  EarlierBodies* earlier_to;
};

/// A block for each border.
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

/// Of a block's bodies, how many are in each stretch; returns the stretch of this thread's body, number `i`, and its
/// place among those of the block. All threads call it.
struct InBlock {
  int stretch, place;

  __device__ InBlock(const std::uint64_t* keys, int i, int count, const DomainBorder* borders, int border_count,
                     int* counts) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int stretches = 2 * border_count + 1;
    if (thread < stretches) counts[thread] = 0;
    __syncthreads();
    stretch = i < count ? stretch_of(keys[i], borders, border_count) : -1;
    place = stretch >= 0 ? atomicAdd(&counts[stretch], 1) : 0;
    __syncthreads();
  }
};
static_assert(most_stretches <= block);

__device__ void load_cells(DomainBorder* borders, const DomainBorder* from, int border_count) {
  if (static_cast<int>(threadIdx.x) < border_count) borders[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
}

struct Sending {
  ResidentBodies from;
  int earlier;  ///< bodies of the devices before this one
  const std::uint64_t* keys;
  const DomainBorder* steps_borders;  ///< at first, and after each step
  int steps;
  const EarlierBodies* of_earlier;  ///< by border
  int* taken;                       ///< by stretch: places that bodies have got
  int small;                        ///< bodies of a cell
  int* steps_needed;                ///< see Move
  FirstBodies first;
  ResidentBodies to[most_devices];
};

/// places[s] = the place among all bodies of the first that this device has in stretch s, if it has any there. A thread
/// for each border: all borders in a cell end the same stretch before it.
__device__ void find_places(const Sending& sending, const DomainBorder* borders, int border_count, int* places) {
  const auto first = static_cast<int>(threadIdx.x);
  if (first >= border_count) return;
  DomainBorder before{};  // of the cell: no body
  EarlierBodies earlier_before{};
  if (first > 0) {
    before = borders[first - 1];
    earlier_before = sending.of_earlier[first - 1];
  }
  const DomainBorder cell = borders[first];
  const EarlierBodies earlier = sending.of_earlier[first];
  if (first == 0 || before.begin != cell.begin) {
    int last = first;
    while (last + 1 < border_count && borders[last + 1].begin == cell.begin) ++last;
    places[2 * first] = before.before + before.inside + earlier.before - earlier_before.before - earlier_before.inside;
    places[first + last + 1] = cell.before + earlier.inside;
  }
  if (first + 1 < border_count) return;
  places[2 * border_count] = cell.before + cell.inside + sending.earlier - earlier.before - earlier.inside;
}

/// After how many steps the cells of all borders were small; 0: after none.
__device__ int steps_needed(const Sending& sending, int border_count) {
  for (int step = 1; step <= sending.steps; ++step) {
    bool are_small = true;
    for (int i = 0; i < border_count; ++i) {
      const DomainBorder& cell = sending.steps_borders[step * border_count + i];
      are_small &= cell.found() || cell.inside <= sending.small;
    }
    if (are_small) return step;
  }
  return 0;
}

__global__ void __launch_bounds__(block) send_bodies(const __grid_constant__ Sending sending) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  const int border_count = sending.first.domains - 1;
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  load_cells(borders, sending.steps_borders + sending.steps * border_count, border_count);
  find_places(sending, borders, border_count, places);
  const InBlock body{sending.keys, i, sending.from.count, borders, border_count, counts};
  if (thread <= 2 * border_count && counts[thread] > 0) {
    places[thread] += atomicAdd(&sending.taken[thread], counts[thread]);
  }
  __syncthreads();
  if (sending.steps_needed && i == 0) *sending.steps_needed = steps_needed(sending, border_count);
  if (body.stretch < 0) return;
  const int place = places[body.stretch] + body.place;
  const int domain = sending.first.domain_of(place);
  const ResidentBodies& to = sending.to[domain];
  const int there = place - sending.first.of[domain];
  to.positions[there] = sending.from.positions[i];
  to.velocities[there] = sending.from.velocities[i];
  to.ids[there] = sending.from.ids[i];
}

__global__ void take_in_order(const ResidentBodies from, const int* __restrict__ order, const ResidentBodies to) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i >= to.count) return;
  const int at = order[i];
  to.positions[i] = from.positions[at];
  to.velocities[i] = from.velocities[at];
  to.ids[i] = from.ids[at];
}

}  // namespace

void DomainMigration::prepare(int most_bodies, int index, int devices, const ResidentBodies& arrived) {
  index_ = index;
  devices_ = devices;
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
  knows_mean_ = false;
}

void DomainMigration::forget() {
  velocities_ = {};
  ids_ = {};
  arrived_ = {};
}

void DomainMigration::connect(std::span<const DomainMigration* const> all) {
  const auto devices = static_cast<int>(all.size());
  for (auto& extents : all_extents_) extents.devices = devices;
  all_histograms_.devices = devices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (int pass = 0; pass < extent_passes; ++pass) all_extents_[pass].of[i] = all[i]->extents_.data() + pass;
    all_histograms_.of[i] = all[i]->histograms_.data();
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
  find_extent_around(device_, knows_mean ? mean_.data() : nullptr, extents_.data() + pass, move.from.positions,
                     move.from.count, stream);
}

void DomainMigration::begin_search(const Move& move, cudaStream_t stream) {
  const SearchBegin begin{.first = move.to.first_bodies(),
                          .of_all = move.of_all,
                          .earlier = move.earlier,
                          .extents = extents_.data(),
                          .passes = passes_,
                          .borders = borders_at(0),
                          .of_earlier = earlier_at(0),
                          .histograms = histograms_.data(),
                          .entries = static_cast<int>(histograms_of(steps_)),
                          .taken = taken_.data()};
  clear_search<<<cuda::ceil_div(begin.entries, block), block, 0, stream>>>(begin);
  ORRERY_CUDA_CHECK_LAUNCH(clear_search);
}

void DomainMigration::make_keys(const Move& move, cudaStream_t stream) {
  find_cube(all_extents_[passes_ - 1], move.of_all, cube_.data(), mean_.data(), stream);
  key_bodies<<<blocks_to_count(device_, move.from.count), digits, 0, stream>>>(
      cube_.data(), move.from.positions, move.from.count, move.of_all, move.keys, histograms_.data());
  ORRERY_CUDA_CHECK_LAUNCH(key_bodies);
}

void DomainMigration::count_digits(int step, const Move& move, cudaStream_t stream) {
  count_step<<<blocks_to_count(device_, move.from.count), digits, 0, stream>>>(
      move.keys, move.from.count, borders_at(step), borders(), histograms_.data() + histograms_of(step));
  ORRERY_CUDA_CHECK_LAUNCH(count_step);
}

void DomainMigration::narrow(int step, const Move& move, cudaStream_t stream) {
  const Step made{.histograms = all_histograms_,
                  .first_histogram = histograms_of(step),
                  .own = index_,
                  .first = move.to.first_bodies(),
                  .from = borders_at(step),
                  .earlier_from = earlier_at(step),
                  .to = borders_at(step + 1),
                  .earlier_to = earlier_at(step + 1)};
  narrow_borders<<<borders(), digits, 0, stream>>>(made);
  ORRERY_CUDA_CHECK_LAUNCH(narrow_borders);
}

void DomainMigration::send(const Move& move, cudaStream_t stream) {
  Sending sending{.from = move.from,
                  .earlier = move.earlier,
                  .keys = move.keys,
                  .steps_borders = borders_at(0),
                  .steps = steps_,
                  .of_earlier = earlier_at(steps_),
                  .taken = taken_.data(),
                  .small = move.of_all / (bodies_per_small * devices_),
                  .steps_needed = move.steps_needed,
                  .first = move.to.first_bodies(),
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
