#include <algorithm>
#include <cstddef>

#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/chosen_trees.h"
#include "compute/kernels/tree/high_expansion.h"

namespace orrery {
namespace {

using cuda::all_lanes;

#include "compute/kernels/tree/outlined_domain.inl"

/// Where to pack what another device needs.
struct ChoiceFor {
  const DomainOutline* outline;
  PackedCell* cells;
  Vec4* high_moments;
  int* numbers;
  Vec4* bodies;
  int room_for_cells, room_for_bodies;
};

struct Choosing {
  Octree tree;
  ChoiceFor choices[most_devices];
  int* counts;  ///< of each choice: cells, bodies
  int receivers;
};

/// Packs for another device. What there is no room for is counted all the same.
struct Pack {
  const Octree& tree;
  const ChoiceFor& choice;
  int* counts;

  /// The places for the lanes that want one. All lanes call it.
  __device__ static int take_place(int* count, bool wanted) {
    const unsigned lanes_that_want = __ballot_sync(all_lanes, wanted);
    if (lanes_that_want == 0) return 0;
    const int lane = static_cast<int>(threadIdx.x) % lanes, first_lane = __ffs(static_cast<int>(lanes_that_want)) - 1;
    int first = 0;
    if (lane == first_lane) first = atomicAdd(count, __popc(lanes_that_want));
    return __shfl_sync(all_lanes, first, first_lane) + __popc(lanes_that_want & ((1u << lane) - 1));
  }
  __device__ void cell(int cell, bool opened) const {
    const int place = take_place(counts, cell >= 0);
    if (cell < 0 || place >= choice.room_for_cells) return;
    const SentCell sent{tree, cell, opened};
    choice.cells[place] = {.number = cell,
                           .first = sent.node.first,
                           .bodies_or_children = sent.node.children > 0 ? -sent.node.children : sent.node.bodies,
                           .reach = sent.node.reach,
                           .test = sent.test,
                           .moments_a = tree.moments_a[cell],
                           .moments_b = tree.moments_b[cell]};
    if (!tree.high_moments) return;
    const std::size_t from = static_cast<std::size_t>(cell) * high::stored_vectors,
                      to = static_cast<std::size_t>(place) * high::stored_vectors;
    for (int i = 0; i < high::stored_vectors; ++i) choice.high_moments[to + i] = tree.high_moments[from + i];
  }
  __device__ void body(int body) const {
    const int place = take_place(counts + 1, body >= 0);
    if (body < 0 || place >= choice.room_for_bodies) return;
    choice.numbers[place] = body;
    choice.bodies[place] = tree.bodies[body];
  }
};

/// Each block packs for one receiver; neighbouring blocks for different ones.
__global__ void __launch_bounds__(send_block) pack_needed(const __grid_constant__ Choosing choosing) {
  const auto block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x) / choosing.receivers;
  const int receiver = block % choosing.receivers;
  const ChoiceFor& choice = choosing.choices[receiver];
  send_needed(choosing.tree, *choice.outline, block / choosing.receivers, blocks,
              Pack{choosing.tree, choice, choosing.counts + 2 * receiver});
}

constexpr int block = 256;

__global__ void put_cells(const PackedCell* __restrict__ cells, const Vec4* __restrict__ high_moments, int count,
                          const __grid_constant__ Octree tree) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i >= count) return;
  const PackedCell cell = cells[i];
  const int children = max(-cell.bodies_or_children, 0), bodies = max(cell.bodies_or_children, 0);
  tree.nodes[cell.number] = {cell.first, bodies, children, cell.reach};
  tree.tests[cell.number] = cell.test;
  tree.moments_a[cell.number] = cell.moments_a;
  tree.moments_b[cell.number] = cell.moments_b;
  if (!tree.high_moments) return;
  const std::size_t from = static_cast<std::size_t>(i) * high::stored_vectors,
                    to = static_cast<std::size_t>(cell.number) * high::stored_vectors;
  for (int k = 0; k < high::stored_vectors; ++k) tree.high_moments[to + k] = high_moments[from + k];
}

__global__ void put_bodies(const int* __restrict__ numbers, const Vec4* __restrict__ bodies, int count, Vec4* to) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) to[numbers[i]] = bodies[i];
}

std::size_t size_of(int count) {
  return static_cast<std::size_t>(count);
}

/// Some more than is needed now, so that the next evaluation seldom needs other memory.
std::size_t room_for(std::size_t size) {
  return size + size / 8;
}

template <class T>
void fit(const cuda::Device& device, cuda::DeviceArray<T>& array, std::size_t size, bool shrinks) {
  if (shrinks) array = {};
  if (array.size() >= size) return;
  take_scratch(device, array, room_for(size), "cuda-tree: the cells and bodies that ranks send each other",
               "fewer bodies");
}

}  // namespace

void ChosenTrees::prepare(int index, int devices) {
  index_ = index;
  devices_ = devices;
  const std::size_t all = size_of(devices);
  take_scratch(device_, outlines_, all, "cuda-tree: the outlines", "fewer ranks");
  take_scratch(device_, counts_, 2 * all, "cuda-tree: the counters", "fewer ranks");
  if (counted_.size() < 2 * all) counted_ = {device_, 2 * all, /*pinned=*/true};
  given_.resize(all);
  taken_.resize(all);
}

DeviceBlock ChosenTrees::place_of_outline(int index) const {
  return {outlines_.data() + index, sizeof(DomainOutline)};
}

int ChosenTrees::Packed::room_for_cells(bool has_high) const {
  const std::size_t room = of_cells.size();
  return static_cast<int>(has_high ? std::min(room, high_moments.size() / high::stored_vectors) : room);
}

/// Memory that is far too large, as after an evaluation that sent all, is given back if that lasts.
void ChosenTrees::take_room(Packed& packed, bool has_high) const {
  constexpr std::size_t far = 4;
  const std::size_t cells = size_of(packed.cells), bodies = size_of(packed.bodies);
  const bool too_large =
      packed.of_cells.size() > far * room_for(cells) && packed.of_bodies.size() > far * room_for(bodies);
  const bool shrinks = too_large && packed.is_to_shrink();
  packed.too_large = too_large && !shrinks ? packed.too_large + 1 : 0;
  fit(device_, packed.of_cells, cells, shrinks);
  fit(device_, packed.high_moments, has_high ? cells * high::stored_vectors : 0, shrinks);
  fit(device_, packed.numbers, bodies, shrinks);
  fit(device_, packed.of_bodies, bodies, shrinks);
}

auto ChosenTrees::blocks_of(const Packed& packed, bool has_high) -> Blocks {
  const std::size_t cells = size_of(packed.cells), bodies = size_of(packed.bodies);
  return {{packed.of_cells.data(), cells * sizeof(PackedCell)},
          {packed.high_moments.data(), has_high ? cells * high::stored_vectors * sizeof(Vec4) : 0},
          {packed.numbers.data(), bodies * sizeof(int)},
          {packed.of_bodies.data(), bodies * sizeof(Vec4)}};
}

/// The room is that of an evaluation before; if it was too little, packs once more.
auto ChosenTrees::choose(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream)
    -> std::vector<Blocks> {
  const bool has_high = tree.high_moments != nullptr;
  // To give memory back, the driver waits for the device, and looks at nothing else.
  if (std::ranges::any_of(given_, &Packed::is_to_shrink)) wait();
  for (Packed& packed : given_) take_room(packed, has_high);
  pack(tree, wait, stream);
  if (!std::ranges::all_of(given_, [&](const Packed& packed) { return packed.has_room(has_high); })) {
    for (Packed& packed : given_) take_room(packed, has_high);
    pack(tree, wait, stream);
  }
  std::vector<Blocks> chosen(given_.size());
  for (int i = 0; i < devices_; ++i) {
    if (i != index_) chosen[size_of(i)] = blocks_of(given_[size_of(i)], has_high);
  }
  return chosen;
}

void ChosenTrees::pack(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream) {
  Choosing choosing{.tree = tree, .choices = {}, .counts = counts_.data(), .receivers = devices_ - 1};
  const auto other = [&](int receiver) { return (index_ + 1 + receiver) % devices_; };  // the next one first
  for (int receiver = 0; receiver < choosing.receivers; ++receiver) {
    const Packed& packed = given_[size_of(other(receiver))];
    choosing.choices[receiver] = {.outline = outlines_.data() + other(receiver),
                                  .cells = packed.of_cells.data(),
                                  .high_moments = packed.high_moments.data(),
                                  .numbers = packed.numbers.data(),
                                  .bodies = packed.of_bodies.data(),
                                  .room_for_cells = packed.room_for_cells(tree.high_moments != nullptr),
                                  .room_for_bodies = packed.room_for_bodies()};
  }
  const std::size_t counts = 2 * size_of(choosing.receivers);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0, counts * sizeof(int), stream));
  pack_needed<<<send_blocks(device_, tree, choosing.receivers), send_block, 0, stream>>>(choosing);
  ORRERY_CUDA_CHECK_LAUNCH(pack_needed);
  cuda::download(counts_.data(), counted_.all().first(counts), stream);
  wait();
  for (int receiver = 0; receiver < choosing.receivers; ++receiver) {
    Packed& packed = given_[size_of(other(receiver))];
    packed.cells = counted_.all()[2 * size_of(receiver)];
    packed.bodies = counted_.all()[2 * size_of(receiver) + 1];
  }
}

auto ChosenTrees::places(int index, std::span<const std::size_t> sizes) -> Blocks {
  Packed& packed = taken_[size_of(index)];
  packed.cells = static_cast<int>(sizes[0] / sizeof(PackedCell));
  packed.bodies = static_cast<int>(sizes[2] / sizeof(int));
  const bool has_high = sizes[1] > 0;
  take_room(packed, has_high);
  return blocks_of(packed, has_high);
}

void ChosenTrees::take(const Octree& tree, cudaStream_t stream) const {
  for (int i = 0; i < devices_; ++i) {
    const Packed& packed = taken_[size_of(i)];
    if (i == index_) continue;
    put_cells<<<cuda::ceil_div(packed.cells, block), block, 0, stream>>>(
        packed.of_cells.data(), packed.high_moments.data(), packed.cells, tree);
    ORRERY_CUDA_CHECK_LAUNCH(put_cells);
    if (packed.bodies == 0) continue;
    put_bodies<<<cuda::ceil_div(packed.bodies, block), block, 0, stream>>>(
        packed.numbers.data(), packed.of_bodies.data(), packed.bodies, tree.bodies);
    ORRERY_CUDA_CHECK_LAUNCH(put_bodies);
  }
}

}  // namespace orrery
