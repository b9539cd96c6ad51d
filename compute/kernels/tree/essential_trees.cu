#include <algorithm>
#include <cstddef>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/warp.h"
#include "compute/kernels/tree/essential_trees.h"
#include "compute/kernels/tree/multipole.h"

namespace orrery {
namespace {

using cuda::all_lanes;
constexpr int lanes = 32;
constexpr int block = 256;

/// A domain's outline in shared memory. Its boxes are bundled, so that most cells are tested only against bundles.
struct Outlined {
  static constexpr int in_bundle = 16, most_bundles = DomainOutline::most / in_bundle;

  int boxes;
  Vec4 low[DomainOutline::most], high[DomainOutline::most];
  Vec4 bundle_low[most_bundles], bundle_high[most_bundles];

  /// Loads an outline. All threads of the block must call this.
  __device__ void load(const DomainOutline& outline) {
    const int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockDim.x);
    if (thread == 0) boxes = outline.boxes;
    __syncthreads();
    for (int i = thread; i < boxes; i += block) {
      low[i] = outline.low[i];
      high[i] = outline.high[i];
    }
    __syncthreads();
    for (int bundle = thread; bundle * in_bundle < boxes; bundle += block) {
      Vec4 least = low[bundle * in_bundle], most = high[bundle * in_bundle];
      for (int i = bundle * in_bundle + 1; i < min((bundle + 1) * in_bundle, boxes); ++i) {
        least = {fminf(least.x, low[i].x), fminf(least.y, low[i].y), fminf(least.z, low[i].z),
                 fmaxf(least.w, low[i].w)};
        most = {fmaxf(most.x, high[i].x), fmaxf(most.y, high[i].y), fmaxf(most.z, high[i].z), 0};
      }
      bundle_low[bundle] = least;
      bundle_high[bundle] = most;
    }
    __syncthreads();
  }

  /// Returns whether a group in the box may open the cell, by the test of the walk. Every call site gets the same bits.
  __device__ static bool opens(const Vec4& low, const Vec4& high, const Vec4& test, float reach) {
    const float dx = fmaxf(fmaxf(low.x - test.x, test.x - high.x), 0),
                dy = fmaxf(fmaxf(low.y - test.y, test.y - high.y), 0),
                dz = fmaxf(fmaxf(low.z - test.z, test.z - high.z), 0);
    const float outside_sq = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmul_rn(dz, dz)));
    return !(outside_sq >= fmaxf(test.w, __fmul_rn(reach, low.w)));
  }
  __device__ bool opens(const Vec4& test, float reach) const {
    for (int bundle = 0; bundle * in_bundle < boxes; ++bundle) {
      if (!opens(bundle_low[bundle], bundle_high[bundle], test, reach)) continue;
      for (int i = bundle * in_bundle; i < min((bundle + 1) * in_bundle, boxes); ++i) {
        if (opens(low[i], high[i], test, reach)) return true;
      }
    }
    return false;
  }
};

/// Calls use(i) for each i of the ranges [begin, begin + count) of all lanes, distributed over the warp. Every lane
/// makes the calls; a lane without an i passes -1.
template <class Use>
__device__ void for_each_of_warp(int begin, int count, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int end = cuda::sum_up_to(count, lane), total = __shfl_sync(all_lanes, end, lanes - 1);
  for (int done = 0; done < total; done += lanes) {
    const int place = done + lane;
    int owner = 0;  // first lane whose range ends after this place
    for (int step = lanes / 2; step > 0; step /= 2) {
      if (__shfl_sync(all_lanes, end, owner + step - 1) <= place) owner += step;
    }
    const int i = __shfl_sync(all_lanes, begin - (end - count), owner) + place;
    use(place < total ? i : -1);
  }
}

/// A cell's node and test, in the form that is sent.
struct SentCell {
  OctreeNode node;
  Vec4 test;

  /// If `opened` is false, the cell always counts as a whole.
  __device__ SentCell(const Octree& tree, int cell, bool opened) : node{tree.nodes[cell]}, test{tree.tests[cell]} {
    if (opened) return;
    node = {0, 0, 0, 0};
    test.w = 0;
  }
};

constexpr int send_block = 1024;  // large blocks, so that few of them read an outline

/// Sends the cells and bodies that the domain of this outline needs; each of `parts` blocks sends one part. Calls
/// receiver.cell(cell, opened) for each cell and receiver.body(body) for each body. All lanes of a warp make these
/// calls; lanes without a cell or body pass -1.
template <class Receiver>
__device__ void send_needed(const Octree& tree, const DomainOutline& outline, int part, int parts,
                            const Receiver& receiver) {
  // Raw bytes, because Vec4 would be initialized to zero.
  alignas(Outlined) __shared__ unsigned char space[sizeof(Outlined)];
  Outlined& outlined = reinterpret_cast<Outlined&>(space);
  outlined.load(outline);
  const auto opens = [&](int cell) { return outlined.opens(tree.tests[cell], tree.nodes[cell].reach); };
  const auto send = [&](int cell) {
    const bool opened = cell >= 0 && opens(cell);
    const OctreeLinks links = opened ? tree.links[cell] : OctreeLinks{};
    receiver.cell(cell, opened);
    for_each_of_warp(links.begin, links.children == 0 ? links.end - links.begin : 0,
                     [&](int body) { receiver.body(body); });
  };
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % lanes, end = tree.state->row_begin[tree.state->rows];
  for (int first = tree.first_cell + (part * send_block + thread) / lanes * lanes; first < end;
       first += parts * send_block) {
    const int cell = first + lane;
    if (first == tree.first_cell) for_each_of_warp(cell, lane == 0 ? 1 : 0, send);
    const OctreeLinks links = cell < end ? tree.links[cell] : OctreeLinks{};
    for_each_of_warp(links.first_child, links.children > 0 && opens(cell) ? links.children : 0, send);
  }
}

/// Returns the number of blocks for `receivers` receivers, a multiple of `receivers`.
int send_blocks(const cuda::Device& device, const Octree& tree, int receivers) {
  const int resident = std::max(device.multiprocessors() / receivers, 1),
            useful = cuda::ceil_div(tree.end_cell - tree.first_cell, send_block);
  return std::min(resident, useful) * receivers;
}

/// Number of stretches into which a domain's bodies are divided. The walk notes for each how far away it may open
/// cells.
constexpr int stretches = 4096;

int stretch_length(const Octree& tree) {
  return cuda::ceil_div(tree.count, stretches);
}

// The boxes of an outline are the largest cells with at most max(least_in_box, tree.count / boxes_of_equal_bodies)
// bodies. If not all of these fit, larger cells are used. No group is in two boxes.
constexpr int least_in_box = 32 * OctreeGroup::most;
constexpr int boxes_of_equal_bodies = 64;
constexpr int outline_block = 512;
constexpr int most_children = 8;
static_assert(outline_block == boxes_of_equal_bodies * most_children, "a thread for each child of a large cell");

/// The cells of an outline. One block finds them from the root down.
struct OutlineCells {
  int large[2][boxes_of_equal_bodies];  ///< the large cells of a row, and their large children, alternately
  int larges, boxes;
  int cells[DomainOutline::most];
  int begins[DomainOutline::most];

  __device__ static bool is_large(const Octree& tree, const OctreeLinks& cell) {
    return cell.children > 0 && cell.end - cell.begin > max(tree.count / boxes_of_equal_bodies, least_in_box);
  }
  __device__ void add(const OctreeLinks& links, int cell) {
    const int place = atomicAdd(&boxes, 1);
    cells[place] = cell;
    begins[place] = links.begin;
  }
  __device__ void find(const Octree& tree) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread == 0) {
      const OctreeLinks root = tree.links[tree.first_cell];
      larges = boxes = 0;
      if (is_large(tree, root)) {
        large[0][larges++] = tree.first_cell;
      } else {
        add(root, tree.first_cell);
      }
    }
    for (int row = 0;; row ^= 1) {
      __syncthreads();
      const int in_row = larges;
      const bool have_room = boxes + most_children * in_row <= DomainOutline::most - boxes_of_equal_bodies;
      __syncthreads();
      if (in_row == 0) return;
      if (!have_room) {
        if (thread < in_row) add(tree.links[large[row][thread]], large[row][thread]);
        return __syncthreads();
      }
      if (thread == 0) larges = 0;
      __syncthreads();
      const int child = thread % most_children;
      if (thread / most_children >= in_row) continue;
      const OctreeLinks links = tree.links[large[row][thread / most_children]];
      if (child >= links.children) continue;
      const int cell = links.first_child + child;
      const OctreeLinks below = tree.links[cell];
      if (is_large(tree, below)) {
        large[row ^ 1][atomicAdd(&larges, 1)] = cell;
      } else {
        add(below, cell);
      }
    }
  }
  /// Returns the index of a box in the order of its bodies.
  __device__ int place_of(int box) const {
    int place = 0;
    for (int other = 0; other < boxes; ++other) place += begins[other] < begins[box];
    return place;
  }
};

/// Returns the largest reach scale of the groups that begin among a cell's bodies or near them. Nearby groups count
/// because bodies have moved a little since the scales were noted.
__device__ float reach_scale_of(const Octree& tree, const OctreeLinks& cell) {
  constexpr float change = 1.2f;  // allowed growth from one evaluation to the next
  constexpr int shift = 4;        // movement of bodies in key order from one evaluation to the next, in stretches
  const int first = (cell.begin - tree.first_body) / tree.stretch,
            last = (cell.end - 1 - tree.first_body) / tree.stretch;
  float scale = 0;
  for (int i = max(first - shift, 0); i <= min(last + shift, stretches - 1); ++i) {
    const float noted = tree.reach_scales[i];
    scale = noted >= 0 ? fmaxf(scale, noted) : INFINITY;
  }
  const auto unit = static_cast<float>(TreeUnits{tree.state->cube}.acceleration_exponent());
  const float power = tree.far == FarField::monopole ? 0.5f : 0.4f;
  return scale > 0 ? change * scale * exp2f(power * unit) : INFINITY;
}

/// Outline of another device's domain, and arrays for the cells and bodies that this device needs.
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
  int* counts;  ///< {cells, bodies} of each choice
  int receivers;
};

/// Packs cells and bodies for another device. Also counts those that do not fit.
struct Pack {
  const Octree& tree;
  const ChoiceFor& choice;
  int* counts;

  /// Returns a place for each lane that wants one. All lanes of the warp must call this.
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

/// Packs the cells and bodies that each receiver needs. Each block packs for one receiver, neighbouring blocks for
/// different ones.
__global__ void __launch_bounds__(send_block) pack_needed(const __grid_constant__ Choosing choosing) {
  const auto block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x) / choosing.receivers;
  const int receiver = block % choosing.receivers;
  const ChoiceFor& choice = choosing.choices[receiver];
  send_needed(choosing.tree, *choice.outline, block / choosing.receivers, blocks,
              Pack{choosing.tree, choice, choosing.counts + 2 * receiver});
}

struct Sending {
  Octree tree;
  TreePlaces to[most_devices];
  int receivers;
};

/// Writes cells and bodies into another device's arrays.
struct SendToPlaces {
  const Octree& tree;
  const TreePlaces& to;

  __device__ void cell(int cell, bool opened) const {
    if (cell < 0) return;
    const SentCell sent{tree, cell, opened};
    to.nodes[cell] = sent.node;
    to.tests[cell] = sent.test;
    to.moments_a[cell] = tree.moments_a[cell];
    to.moments_b[cell] = tree.moments_b[cell];
    if (!tree.high_moments) return;
    const std::size_t first = static_cast<std::size_t>(cell) * high::stored_vectors;
    for (int i = 0; i < high::stored_vectors; ++i) to.high_moments[first + i] = tree.high_moments[first + i];
  }
  __device__ void body(int body) const {
    if (body >= 0) to.bodies[body] = tree.bodies[body];
  }
};

/// Sends to all receivers. Each block sends to one receiver, neighbouring blocks to different ones.
__global__ void __launch_bounds__(send_block) send_to_places(const __grid_constant__ Sending sending) {
  const auto block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x) / sending.receivers;
  const TreePlaces& to = sending.to[block % sending.receivers];
  send_needed(sending.tree, *to.outline, block / sending.receivers, blocks, SendToPlaces{sending.tree, to});
}

/// Outlines the domain; runs as one block. `knows_reach`: the notes cover a walk of all groups. `forgets`: clears the
/// notes, because the next walk makes them again.
__global__ void __launch_bounds__(outline_block)
    outline_domain(const __grid_constant__ Octree tree, bool knows_reach, bool forgets, DomainOutline* outline) {
  __shared__ OutlineCells found;
  const auto thread = static_cast<int>(threadIdx.x);
  found.find(tree);
  if (thread == 0) outline->boxes = found.boxes;
  for (int box = thread; box < found.boxes; box += outline_block) {
    const int cell = found.cells[box], place = found.place_of(box);
    Vec4 low = tree.low[cell];
    low.w = tree.tolerance == 0 ? 0 : knows_reach ? reach_scale_of(tree, tree.links[cell]) : INFINITY;
    outline->low[place] = low;
    outline->high[place] = tree.high[cell];
  }
  if (!forgets) return;
  __syncthreads();
  for (int i = thread; i < stretches; i += outline_block) tree.reach_scales[i] = 0;
}

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

/// Returns `size` plus an eighth, so that the next evaluation seldom needs new memory.
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

void EssentialTrees::prepare(int index) {
  index_ = index;
  forget();
  const auto take = [this](auto& array, std::size_t size) {
    take_scratch(device_, array, size, "cuda-tree: the outlines", "fewer bodies");
  };
  take(outline_, 1);
  take(reach_scales_, stretches);
}

void EssentialTrees::connect(std::span<const EssentialTrees* const> all, std::span<const Octree> arrays) {
  others_ = static_cast<int>(all.size()) - 1;
  for (int i = 0; i < others_; ++i) {
    const std::size_t other = static_cast<std::size_t>(index_ + 1 + i) % all.size();
    const Octree& at = arrays[other];
    to_[i] = {.outline = all[other]->outline_.data(),
              .bodies = at.bodies,
              .nodes = at.nodes,
              .tests = at.tests,
              .moments_a = at.moments_a,
              .moments_b = at.moments_b,
              .high_moments = at.high_moments};
  }
}

void EssentialTrees::note_in(Octree& tree) const {
  tree.stretch = stretch_length(tree);
  tree.reach_scales = reach_scales_.data();
}

void EssentialTrees::outline(const Octree& tree, bool walks_all, cudaStream_t stream) {
  const bool forgets = walks_all || !knows_reach_;
  outline_domain<<<1, outline_block, 0, stream>>>(tree, knows_reach_, forgets, outline_.data());
  ORRERY_CUDA_CHECK_LAUNCH(outline_domain);
  knows_reach_ |= walks_all;
}

void EssentialTrees::send(const Octree& tree, cudaStream_t stream) const {
  Sending sending{.tree = tree, .to = {}, .receivers = others_};
  std::copy_n(to_, others_, sending.to);
  send_to_places<<<send_blocks(device_, tree, others_), send_block, 0, stream>>>(sending);
  ORRERY_CUDA_CHECK_LAUNCH(send_to_places);
}

void PackedTrees::prepare(int index, int devices) {
  index_ = index;
  devices_ = devices;
  const std::size_t all = size_of(devices);
  take_scratch(device_, outlines_, all, "cuda-tree: the outlines", "fewer ranks");
  take_scratch(device_, counts_, 2 * all, "cuda-tree: the counters", "fewer ranks");
  if (counted_.size() < 2 * all) counted_ = {device_, 2 * all, /*pinned=*/true};
  sent_.resize(all);
  received_.resize(all);
}

DeviceBlock PackedTrees::place_of_outline(int index) const {
  return {outlines_.data() + index, sizeof(DomainOutline)};
}

int PackedTrees::Packed::room_for_cells(bool has_high) const {
  const std::size_t room = of_cells.size();
  return static_cast<int>(has_high ? std::min(room, high_moments.size() / high::stored_vectors) : room);
}

/// Frees memory that stays far too large, such as after an evaluation that sent everything.
void PackedTrees::fit_memory(Packed& packed, bool has_high) const {
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

auto PackedTrees::blocks_of(const Packed& packed, bool has_high) -> Blocks {
  const std::size_t cells = size_of(packed.cells), bodies = size_of(packed.bodies);
  return {{packed.of_cells.data(), cells * sizeof(PackedCell)},
          {packed.high_moments.data(), has_high ? cells * high::stored_vectors * sizeof(Vec4) : 0},
          {packed.numbers.data(), bodies * sizeof(int)},
          {packed.of_bodies.data(), bodies * sizeof(Vec4)}};
}

/// Packs into memory sized by an earlier evaluation. If that was too small, enlarges it and packs again.
auto PackedTrees::choose(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream)
    -> std::vector<Blocks> {
  const bool has_high = tree.high_moments != nullptr;
  // The driver blocks while it frees memory, and watches only this device. So wait() comes first.
  if (std::ranges::any_of(sent_, &Packed::is_to_shrink)) wait();
  for (Packed& packed : sent_) fit_memory(packed, has_high);
  pack(tree, wait, stream);
  if (!std::ranges::all_of(sent_, [&](const Packed& packed) { return packed.has_room(has_high); })) {
    for (Packed& packed : sent_) fit_memory(packed, has_high);
    pack(tree, wait, stream);
  }
  std::vector<Blocks> chosen(sent_.size());
  for (int i = 0; i < devices_; ++i) {
    if (i != index_) chosen[size_of(i)] = blocks_of(sent_[size_of(i)], has_high);
  }
  return chosen;
}

void PackedTrees::pack(const Octree& tree, const std::function<void()>& wait, cudaStream_t stream) {
  Choosing choosing{.tree = tree, .choices = {}, .counts = counts_.data(), .receivers = devices_ - 1};
  const auto other = [&](int receiver) { return (index_ + 1 + receiver) % devices_; };  // cyclic order after this
                                                                                        // device
  for (int receiver = 0; receiver < choosing.receivers; ++receiver) {
    const Packed& packed = sent_[size_of(other(receiver))];
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
    Packed& packed = sent_[size_of(other(receiver))];
    packed.cells = counted_.all()[2 * size_of(receiver)];
    packed.bodies = counted_.all()[2 * size_of(receiver) + 1];
  }
}

auto PackedTrees::places(int index, std::span<const std::size_t> sizes) -> Blocks {
  Packed& packed = received_[size_of(index)];
  packed.cells = static_cast<int>(sizes[0] / sizeof(PackedCell));
  packed.bodies = static_cast<int>(sizes[2] / sizeof(int));
  const bool has_high = sizes[1] > 0;
  fit_memory(packed, has_high);
  return blocks_of(packed, has_high);
}

void PackedTrees::take(const Octree& tree, cudaStream_t stream) const {
  for (int i = 0; i < devices_; ++i) {
    const Packed& packed = received_[size_of(i)];
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
