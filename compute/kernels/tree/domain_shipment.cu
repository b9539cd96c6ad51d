#include <stdexcept>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/domain_shipment.h"

namespace orrery {
namespace {

constexpr int block = stretch_block;

/// The bodies of a device in the order of their stretches are those that go to the first device, then those that go to
/// the second one, and so on.
struct Plan {
  int* counts;       ///< by stretch: bodies of this device
  int* shifts;       ///< likewise: from their places among all bodies to their places in that order
  int* taken;        ///< likewise: places that bodies have got
  int* first_going;  ///< by device: in that order, the first body that goes there
  int* going;        ///< likewise: how many do

  Plan(int* numbers, int devices)
      : counts{numbers},
        shifts{counts + most_stretches},
        taken{shifts + most_stretches},
        first_going{taken + most_stretches},
        going{first_going + devices} {}
  static std::size_t numbers(int devices) {
    return 3 * static_cast<std::size_t>(most_stretches) + 2 * static_cast<std::size_t>(devices);
  }
};

__global__ void __launch_bounds__(block)
    count_stretches(const __grid_constant__ Stretches stretches, int bodies, int* of_all) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches];
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  load_cells(borders, stretches);
  const InBlock body{stretches, i, bodies, borders, counts};
  if (thread < stretches.count() && counts[thread] > 0) atomicAdd(&of_all[thread], counts[thread]);
}

/// One block.
__global__ void __launch_bounds__(block) make_plan(const __grid_constant__ Stretches stretches, const Plan plan,
                                                   const SmallBorders small, int* steps_needed) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  __shared__ int going[most_devices];
  const int thread = static_cast<int>(threadIdx.x);
  load_cells(borders, stretches);
  find_places(stretches, borders, places);
  if (thread < stretches.count()) counts[thread] = plan.counts[thread];
  __syncthreads();
  if (thread < stretches.first.domains) {
    const int first = stretches.first.of[thread];
    const bool is_last = thread + 1 == stretches.first.domains;
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
  if (thread < stretches.first.domains) {
    int before = 0;
    for (int device = 0; device < thread; ++device) before += going[device];
    plan.first_going[thread] = before;
    plan.going[thread] = going[thread];
  }
  if (steps_needed && thread == 0) *steps_needed = small.steps_needed();
}

struct Packing {
  ResidentBodies from;
  Stretches stretches;
  Plan plan;
  int own;  ///< device
  ResidentBodies staying, leaving;
};

__global__ void __launch_bounds__(block) pack_bodies(const __grid_constant__ Packing packing) {
  __shared__ DomainBorder borders[most_borders];
  __shared__ int counts[most_stretches], places[most_stretches];
  const Stretches& stretches = packing.stretches;
  const int thread = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * block + thread;
  load_cells(borders, stretches);
  find_places(stretches, borders, places);
  const InBlock body{stretches, i, packing.from.count, borders, counts};
  if (thread < stretches.count() && counts[thread] > 0) {
    places[thread] += atomicAdd(&packing.plan.taken[thread], counts[thread]);
  }
  __syncthreads();
  if (body.stretch < 0) return;
  const int place = places[body.stretch] + body.place;
  const int device = stretches.first.domain_of(place);
  const int in_order = place + packing.plan.shifts[body.stretch];
  const int first_staying = packing.plan.first_going[packing.own];
  if (device == packing.own) return put_body(packing.from, i, packing.staying, in_order - first_staying);
  const int staying_before = device > packing.own ? packing.plan.going[packing.own] : 0;
  put_body(packing.from, i, packing.leaving, in_order - staying_before);
}

auto blocks_of(const ResidentBodies& bodies, int first, int count) -> DivisionFacet::Blocks {
  const auto size = static_cast<std::size_t>(count);
  return {{bodies.positions + first, size * sizeof(Vec4)},
          {bodies.velocities + first, size * sizeof(Vec4)},
          {bodies.ids + first, size * sizeof(int)}};
}

}  // namespace

void DomainShipment::prepare(int index, int devices, const ResidentBodies& arrived) {
  index_ = index;
  devices_ = devices;
  arrived_ = arrived;
  const auto all = static_cast<std::size_t>(devices);
  take_scratch(device_, numbers_, Plan::numbers(devices), "cuda-tree: the counters", "fewer ranks");
  if (going_.size() < all) going_ = {device_, all, /*pinned=*/true};
}

void DomainShipment::plan(const ResidentBodies& from, const Stretches& stretches, const SmallBorders& small,
                          int* steps_needed, cudaStream_t stream) {
  from_ = from;
  stretches_ = stretches;
  const Plan plan{numbers_.data(), devices_};
  ORRERY_CUDA_CHECK(cudaMemsetAsync(plan.counts, 0, most_stretches * sizeof(int), stream));
  count_stretches<<<cuda::ceil_div(from.count, block), block, 0, stream>>>(stretches, from.count, plan.counts);
  ORRERY_CUDA_CHECK_LAUNCH(count_stretches);
  make_plan<<<1, block, 0, stream>>>(stretches, plan, small, steps_needed);
  ORRERY_CUDA_CHECK_LAUNCH(make_plan);
  cuda::download<int>(plan.going, going_.first(devices_), stream);
}

/// Memory that is far too large, as after the first move, is given back if that lasts.
void DomainShipment::take_room(std::size_t bodies) {
  constexpr int most_too_large = 8;
  constexpr std::size_t far = 4;
  const std::size_t room = bodies + bodies / 8;  // so that the next move seldom needs other memory
  const bool is_too_large = leaving_.ids.size() > far * room;
  leaving_.too_large = is_too_large ? leaving_.too_large + 1 : 0;
  if (leaving_.too_large > most_too_large) leaving_ = {};
  if (leaving_.ids.size() >= bodies) return;
  const auto take = [&](auto& array) {
    take_scratch(device_, array, room, "cuda-tree: the bodies that ranks send each other", "fewer bodies");
  };
  take(leaving_.positions), take(leaving_.velocities), take(leaving_.ids);
}

auto DomainShipment::leaving(const std::function<void()>& wait, cudaStream_t stream) -> std::vector<Blocks> {
  wait();
  const std::span<const int> going = going_.first(devices_);
  come_ = going[static_cast<std::size_t>(index_)];
  take_room(static_cast<std::size_t>(from_.count - come_));
  const ResidentBodies packed{
      .positions = leaving_.positions.data(), .velocities = leaving_.velocities.data(), .ids = leaving_.ids.data()};
  pack_bodies<<<cuda::ceil_div(from_.count, block), block, 0, stream>>>({.from = from_,
                                                                         .stretches = stretches_,
                                                                         .plan = {numbers_.data(), devices_},
                                                                         .own = index_,
                                                                         .staying = arrived_,
                                                                         .leaving = packed});
  ORRERY_CUDA_CHECK_LAUNCH(pack_bodies);
  std::vector<Blocks> blocks(static_cast<std::size_t>(devices_));
  int first = 0;
  for (int device = 0; device < devices_; ++device) {
    const auto to = static_cast<std::size_t>(device);
    if (device == index_) continue;
    blocks[to] = blocks_of(packed, first, going[to]);
    first += going[to];
  }
  return blocks;
}

auto DomainShipment::places(std::span<const std::size_t> sizes) -> Blocks {
  const int first = come_, count = static_cast<int>(sizes.back() / sizeof(int));
  come_ += count;
  return blocks_of(arrived_, first, count);
}

}  // namespace orrery
