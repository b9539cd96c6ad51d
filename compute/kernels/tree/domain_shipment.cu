#include <algorithm>
#include <cstddef>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/domain_shipment.h"

namespace orrery {
namespace {

constexpr int block = stretch_block;
/// Of the bodies that a device can have, a shipment has one in so many; but at least `least_room` of them.
constexpr int shipments_of_all = 8, least_room = 1 << 16;

/// The bodies of a device in the order of their stretches: those that go to the first device come first, and so on.
struct Plan {
  int* counts;       ///< by stretch: bodies of this device
  int* shifts;       ///< likewise: from their places among all bodies to their places in that order
  int* taken;        ///< likewise: places that bodies have got
  int* first_going;  ///< by device: in that order, the first body that goes there
  int* going;        ///< likewise: how many do

  Plan(int* numbers, int* of_going)
      : counts{numbers},
        shifts{counts + most_stretches},
        taken{shifts + most_stretches},
        first_going{taken + most_stretches},
        going{of_going} {}
  static constexpr std::size_t numbers = 3 * std::size_t{most_stretches} + most_devices;
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

/// What becomes of a body: its place in the order of those that leave, or that it stays.
constexpr auto stays = ~std::uint64_t{0};

struct Packing {
  ResidentBodies from;
  Stretches stretches;
  Plan plan;
  int own;  ///< device
  ResidentBodies staying, leaving;
  int room;  ///< for bodies that leave
};

/// Copies the bodies that stay and the first shipment. In place of its key, each body gets what becomes of it.
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

/// A later shipment, which begins with the place `first`.
__global__ void __launch_bounds__(block) pack_next(const ResidentBodies from, const std::uint64_t* becomes, int first,
                                                   const ResidentBodies leaving, int room) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i >= from.count || becomes[i] == stays) return;
  const int place = static_cast<int>(becomes[i]) - first;
  if (place >= 0 && place < room) put_body(from, i, leaving, place);
}

auto blocks_of(const ResidentBodies& bodies, ShipmentPlan::Interval some) -> DivisionFacet::Blocks {
  const auto size = static_cast<std::size_t>(some.count);
  return {{bodies.positions + some.first, size * sizeof(Vec4)},
          {bodies.velocities + some.first, size * sizeof(Vec4)},
          {bodies.ids + some.first, size * sizeof(int)}};
}

}  // namespace

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

}  // namespace orrery
