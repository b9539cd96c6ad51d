#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/border_search.h"
#include "compute/kernels/tree/domain_migration.h"
#include "compute/kernels/tree/octree_kernels.h"

namespace orrery {
namespace {

constexpr int block = 256;
constexpr int digits = DomainBorder::digits;
constexpr int most_stretches = 2 * most_borders + 1;

__global__ void begin_borders(const __grid_constant__ FirstBodies first, int count, DomainBorder* borders) {
  const auto border = static_cast<int>(threadIdx.x);
  if (border < first.domains - 1) borders[border] = DomainBorder::of_all(first.of[border + 1], count);
}

/// In every block.
__device__ void load(SearchedBorders& borders, const DomainBorder* from, int border_count) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < border_count) borders.at[thread] = from[thread];
  __syncthreads();
  if (thread < border_count) borders.find_first_in_cell(thread);
  __syncthreads();
}

__global__ void __launch_bounds__(digits)
    count_step(const std::uint64_t* keys, int count, const DomainBorder* from, int border_count, int* histograms) {
  __shared__ SearchedBorders borders;
  load(borders, from, border_count);
  if (borders.all_found(border_count)) return;
  count_all_digits(keys, count, borders, border_count, histograms);
}

/// A block for each border. `histograms`: from this one on.
__global__ void __launch_bounds__(digits)
    narrow_borders(const __grid_constant__ OnAll<const int> histograms, std::size_t first_histogram,
                   const __grid_constant__ FirstBodies first, const DomainBorder* from, DomainBorder* to) {
  __shared__ SearchedBorders borders;
  __shared__ DomainBorder found;
  const int border = static_cast<int>(blockIdx.x), digit = static_cast<int>(threadIdx.x);
  load(borders, from, first.domains - 1);
  const DomainBorder cell = borders.at[border];
  if (digit == 0) found = cell;
  __syncthreads();
  if (!cell.found()) {
    const std::size_t histogram = first_histogram + static_cast<std::size_t>(borders.first_in_cell[border]) * digits;
    int inside = 0;
    for (int i = 0; i < histograms.devices; ++i) inside += histograms.of[i][histogram + digit];
    narrow(cell, first.of[border + 1], inside, found);
  }
  if (digit == 0) to[border] = found;
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

__global__ void __launch_bounds__(block)
    count_in_stretches(const std::uint64_t* keys, int count, const DomainBorder* from, int border_count, int* found) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches];
  load_cells(borders, from, border_count);
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  const InBlock body{keys, i, count, borders, border_count, counts};
  if (thread <= 2 * border_count && counts[thread] > 0) atomicAdd(&found[thread], counts[thread]);
}

/// places[s] = the place among all bodies of the first that device `own` has in stretch s.
__global__ void __launch_bounds__(block)
    find_places(const __grid_constant__ OnAll<const int> counts, int own, int stretches, int* places) {
  __shared__ int totals[most_stretches];
  const auto stretch = static_cast<int>(threadIdx.x);
  int total = 0, before = 0;
  if (stretch < stretches) {
    for (int i = 0; i < counts.devices; ++i) {
      const int inside = counts.of[i][stretch];
      if (i < own) before += inside;
      total += inside;
    }
    totals[stretch] = total;
  }
  __syncthreads();
  if (stretch >= stretches) return;
  for (int s = 0; s < stretch; ++s) before += totals[s];
  places[stretch] = before;
}

struct Sending {
  ResidentBodies from;
  const std::uint64_t* keys;
  const DomainBorder* borders;
  int* places;  ///< of the next body of each stretch among all
  FirstBodies first;
  ResidentBodies to[most_devices];
};

__global__ void __launch_bounds__(block) send_bodies(const __grid_constant__ Sending sending) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  const int border_count = sending.first.domains - 1;
  load_cells(borders, sending.borders, border_count);
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  const InBlock body{sending.keys, i, sending.from.count, borders, border_count, counts};
  if (thread <= 2 * border_count && counts[thread] > 0) {
    places[thread] = atomicAdd(&sending.places[thread], counts[thread]);
  }
  __syncthreads();
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

void DomainMigration::prepare(int most_bodies, int index, int devices) {
  index_ = index;
  devices_ = devices;
  const auto size = static_cast<std::size_t>(most_bodies);
  const auto borders = static_cast<std::size_t>(devices - 1);
  const auto take = [this](auto& array, std::size_t entries) {
    take_scratch(device_, array, entries, "cuda-tree: the bodies that the devices hold", "fewer bodies");
  };
  for (auto* array : {&velocities_, &arrived_positions_, &arrived_velocities_}) take(*array, size);
  for (auto* array : {&ids_, &arrived_ids_}) take(*array, size);
  take(extents_, 2);
  take(cube_, 1);
  take(borders_, (border_steps + 1) * borders);
  take(histograms_, border_steps * borders * digits);
  take(stretches_, 2 * most_stretches);
}

void DomainMigration::forget() {
  velocities_ = {}, arrived_positions_ = {}, arrived_velocities_ = {};
  ids_ = {}, arrived_ids_ = {};
}

void DomainMigration::connect(std::span<const DomainMigration* const> all) {
  const auto devices = static_cast<int>(all.size());
  all_extents_.devices = all_deviations_.devices = all_histograms_.devices = all_stretches_.devices = devices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all_extents_.of[i] = all[i]->extents_.data();
    all_deviations_.of[i] = all[i]->extents_.data() + 1;
    all_histograms_.of[i] = all[i]->histograms_.data();
    all_stretches_.of[i] = all[i]->stretches_.data();
    all_arrived_[i] = all[i]->arrived();
  }
}

ResidentBodies DomainMigration::arrived() const {
  return {.positions = arrived_positions_.data(), .velocities = arrived_velocities_.data(), .ids = arrived_ids_.data()};
}

std::size_t DomainMigration::histograms_of(int step) const {
  return static_cast<std::size_t>(step * borders()) * digits;
}

void DomainMigration::round(int number, const Move& move, cudaStream_t stream) {
  constexpr int first_step = 2, last_step = first_step + border_steps - 1;
  if (number > first_step && number <= last_step + 1) narrow(number - first_step - 1, move, stream);
  switch (number) {
    case 0:
      find_extent(device_, extents_.data(), move.from.positions, move.from.count, stream);
      return begin_search(move, stream);
    case 1:
      return find_deviation_in(device_, all_extents_, extents_.data() + 1, move.from.positions, move.from.count,
                               move.of_all, stream);
    case first_step:
      find_cube(all_deviations_, index_, move.of_all, cube_.data(), stream);
      // Nobody needs the extent of its bodies alone any more.
      find_keys_in(cube_.data(), {.count = move.from.count, .state = extents_.data()}, move.from.positions, move.keys,
                   move.numbers, stream);
      break;
    case last_step + 1:
      return count_stretches(move, stream);
    case last_step + 2:
      return send(move, stream);
    default:
      break;
  }
  count_digits(number - first_step, move, stream);
}

void DomainMigration::begin_search(const Move& move, cudaStream_t stream) {
  begin_borders<<<1, most_devices, 0, stream>>>(FirstBodies{move.to}, move.of_all, borders_at(0));
  ORRERY_CUDA_CHECK_LAUNCH(begin_borders);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(histograms_.data(), 0, histograms_of(border_steps) * sizeof(int), stream));
  ORRERY_CUDA_CHECK(cudaMemsetAsync(stretches_.data(), 0, most_stretches * sizeof(int), stream));
}

void DomainMigration::count_digits(int step, const Move& move, cudaStream_t stream) {
  const int blocks = std::min(cuda::ceil_div(move.from.count, digits), 2 * device_.multiprocessors());
  count_step<<<blocks, digits, 0, stream>>>(move.keys, move.from.count, borders_at(step), borders(),
                                            histograms_.data() + histograms_of(step));
  ORRERY_CUDA_CHECK_LAUNCH(count_step);
}

void DomainMigration::narrow(int step, const Move& move, cudaStream_t stream) {
  narrow_borders<<<borders(), digits, 0, stream>>>(all_histograms_, histograms_of(step), FirstBodies{move.to},
                                                   borders_at(step), borders_at(step + 1));
  ORRERY_CUDA_CHECK_LAUNCH(narrow_borders);
}

void DomainMigration::count_stretches(const Move& move, cudaStream_t stream) {
  count_in_stretches<<<cuda::ceil_div(move.from.count, block), block, 0, stream>>>(
      move.keys, move.from.count, borders_at(border_steps), borders(), stretches_.data());
  ORRERY_CUDA_CHECK_LAUNCH(count_in_stretches);
}

void DomainMigration::send(const Move& move, cudaStream_t stream) {
  int* const places = stretches_.data() + most_stretches;
  find_places<<<1, block, 0, stream>>>(all_stretches_, index_, 2 * borders() + 1, places);
  ORRERY_CUDA_CHECK_LAUNCH(find_places);
  Sending sending{.from = move.from,
                  .keys = move.keys,
                  .borders = borders_at(border_steps),
                  .places = places,
                  .first = FirstBodies{move.to},
                  .to = {}};
  std::copy_n(all_arrived_, devices_, sending.to);
  send_bodies<<<cuda::ceil_div(move.from.count, block), block, 0, stream>>>(sending);
  ORRERY_CUDA_CHECK_LAUNCH(send_bodies);
}

void DomainMigration::take(const int* order, const ResidentBodies& to, cudaStream_t stream) const {
  take_in_order<<<cuda::ceil_div(to.count, block), block, 0, stream>>>(arrived(), order, to);
  ORRERY_CUDA_CHECK_LAUNCH(take_in_order);
}

}  // namespace orrery
