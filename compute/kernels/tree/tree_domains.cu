#include <cooperative_groups.h>

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <string>

#include "compute/cuda/launch.h"
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/domain_border.h"
#include "compute/kernels/tree/tree_domains.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

namespace cg = cooperative_groups;
static_assert(most_devices <= Octree::most_trees);

constexpr int block = DomainBorder::digits;  // one thread per digit
constexpr int most_steps = key_levels / DomainBorder::levels_per_digit;

struct Search {
  const std::uint64_t* keys;
  int count;
  int borders;
  int* histograms;           ///< by step, border and digit; initially zero
  unsigned char* stretches;  ///< result: stretch of each body
  int ranks[most_borders];

  /// Returns the histogram of the first border in this step; those of the others follow.
  __device__ int* histograms_of(int step) const { return histograms + step * borders * DomainBorder::digits; }
};

/// Finds the stretch of each body. All blocks find the same borders.
__global__ void __launch_bounds__(block) find_stretches(const __grid_constant__ Search search) {
  __shared__ SearchedBorders borders;
  const auto grid = cg::this_grid();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < search.borders) borders.at[thread] = DomainBorder::of_all(search.ranks[thread], search.count);
  __syncthreads();
  for (int step = 0; step < most_steps && !borders.all_found(search.borders); ++step) {
    if (thread < search.borders) borders.find_first_in_cell(thread);
    __syncthreads();
    count_all_digits(search.keys, search.count, borders, search.borders, search.histograms_of(step));
    grid.sync();
    for (int border = 0; border < search.borders; ++border) {
      const DomainBorder cell = borders.at[border];
      if (cell.found()) continue;
      const int* const histogram = search.histograms_of(step) + borders.first_in_cell[border] * DomainBorder::digits;
      narrow(cell, search.ranks[border], histogram[thread], borders.at[border]);
    }
  }
  for (int i = static_cast<int>(blockIdx.x) * block + thread; i < search.count;
       i += static_cast<int>(gridDim.x) * block) {
    search.stretches[i] = static_cast<unsigned char>(stretch_of(search.keys[i], borders.at, search.borders));
  }
}

/// Stable, so that numbers of one stretch keep their order.
cudaError_t sort_stretches(void* space, std::size_t& bytes, cub::DoubleBuffer<unsigned char>& stretches,
                           cub::DoubleBuffer<int>& numbers, int count, int borders, cudaStream_t stream) {
  const int bits = std::bit_width(static_cast<unsigned>(2 * borders));
  return cub::DeviceRadixSort::SortPairs(space, bytes, stretches, numbers, count, 0, bits, stream);
}

template <class T>
__global__ void pick(const T* __restrict__ entries, const int* __restrict__ order, int count, T* __restrict__ picked) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) picked[i] = entries[order[i]];
}

__global__ void spread(const Vec4* __restrict__ entries, const int* __restrict__ order, int count,
                       Vec4* __restrict__ to) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < count) to[order[i]] = entries[i];
}

template <class T>
void pick_entries(const T* entries, const int* order, int count, T* picked, cudaStream_t stream) {
  pick<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, picked);
  ORRERY_CUDA_CHECK_LAUNCH(pick);
}

/// Joins the counts of all devices.
__global__ void join_counts(const __grid_constant__ OnAll<const TreeCounts> all, TreeCounts* joined) {
  TreeCounts sum = *all.of[0];
  for (int i = 1; i < all.devices; ++i) {
    const TreeCounts& counts = *all.of[i];
    sum.interactions += counts.interactions;
    sum.cells += counts.cells;
    sum.depth = max(sum.depth, counts.depth);
  }
  *joined = sum;
}

__global__ void name_owners(const int* order, int count, const __grid_constant__ FirstBodies first, int* owners) {
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) owners[order[i]] = first.domain_of(i);
}

std::size_t size_of(int count) {
  return static_cast<std::size_t>(count);
}

/// Returns the entries [first, end) of an array that all devices have.
template <class T>
DeviceBlock range_of(T* array, int first, int end, std::size_t vectors = 1) {
  return {array + size_of(first) * vectors, size_of(end - first) * vectors * sizeof(T)};
}

}  // namespace

void DomainKeys::prepare(int borders) {
  take_scratch(device_, histograms_, static_cast<std::size_t>(most_steps * borders * DomainBorder::digits),
               "cuda-tree: the counts of keys", "fewer devices");
}

std::size_t DomainKeys::sort_bytes(const cuda::Device& device, int count) {
  device.activate();
  std::size_t bytes = 0;
  cub::DoubleBuffer<unsigned char> stretches;
  cub::DoubleBuffer<int> numbers;
  ORRERY_CUDA_CHECK(sort_stretches(nullptr, bytes, stretches, numbers, count, most_borders, nullptr));
  return bytes;
}

int* DomainKeys::order(const Keys& keys, std::span<const int> ranks, const Space& space, cudaStream_t stream) {
  Search search{.keys = keys.keys,
                .count = keys.count,
                .borders = static_cast<int>(ranks.size()),
                .histograms = histograms_.data(),
                .stretches = space.stretches,
                .ranks = {}};
  std::ranges::copy(ranks, search.ranks);
  const std::size_t counts = static_cast<std::size_t>(most_steps * search.borders * DomainBorder::digits);
  ORRERY_CUDA_CHECK(cudaMemsetAsync(search.histograms, 0, counts * sizeof(int), stream));
  const int resident = cuda::known_resident_blocks(device_, find_stretches, block);
  const int blocks = std::min(cuda::ceil_div(keys.count, block), std::min(resident, 2) * device_.multiprocessors());
  void* arguments[] = {&search};
  ORRERY_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(find_stretches),
                                                dim3(static_cast<unsigned>(blocks)), dim3(block), arguments, 0,
                                                stream));
  cub::DoubleBuffer<unsigned char> stretches{space.stretches, space.stretches + keys.count};
  cub::DoubleBuffer<int> numbers{keys.numbers, keys.other_numbers};
  std::size_t bytes = space.sort_bytes;
  ORRERY_CUDA_CHECK(sort_stretches(space.sort_space, bytes, stretches, numbers, keys.count, search.borders, stream));
  return numbers.Current();
}

void pick_keys(const std::uint64_t* keys, const int* order, int count, std::uint64_t* picked, cudaStream_t stream) {
  pick_entries(keys, order, count, picked, stream);
}

void pick_flags(const unsigned char* flags, const int* order, int count, unsigned char* picked, cudaStream_t stream) {
  pick_entries(flags, order, count, picked, stream);
}

void spread_entries(const Vec4* entries, const int* order, int count, Vec4* to, cudaStream_t stream) {
  spread<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, to);
  ORRERY_CUDA_CHECK_LAUNCH(spread);
}

void TreeDomains::prepare_division(int count, int index, int devices) {
  migration_.forget();
  prepare(count, index, devices, /*holds=*/false);
}

void TreeDomains::prepare(int count, int index, int devices, bool holds) {
  const int leaf = work_.settings.leaf();
  if (const int most = DomainLayout::most_of_all(devices, leaf); count > most) {
    throw UsageError("cuda-tree takes at most " + std::to_string(most) + " bodies on " + std::to_string(devices) +
                     " devices");
  }
  work_.forget_tree();
  forget();
  order_ = nullptr;
  layout_ = {};
  index_ = index;
  devices_ = devices;
  holds_ = holds;
  gives_needed_ = false;
  essential_.prepare(index);
  const int most_bodies = DomainLayout::most_bodies(count, devices);
  const auto take = [this](auto& array, std::size_t size, const char* what) {
    take_scratch(work_.device, array, size, std::string{"cuda-tree: "} + what, "fewer bodies");
  };
  OctreeRoom room{.bodies = count, .cells = DomainLayout::all_cells(count, devices, leaf)};
  if (leads()) {
    room.own_bodies = count;
    room.own_cells = room.cells;  // for TreeFacet::pick_cells()
    room.trees = devices;
    room.sort_bytes = std::max(sort_bytes(work_.device, most_bodies), DomainKeys::sort_bytes(work_.device, count));
    keys_.prepare(devices - 1);
    take(sums_, size_of(count), "the accelerations");
  } else {
    room.own_bodies = most_bodies;
    room.own_cells = DomainLayout::most_cells(count, devices, leaf);
    room.sort_bytes = sort_bytes(work_.device, most_bodies);
    if (holds_) room.arriving = most_bodies;
    if (!holds_) take(received_, size_of(most_bodies), "the bodies of its domain");
    take(cube_, 1, "the cube");
  }
  if (is_first()) take(counts_, most_devices, "the counters");
  work_.arrays.take(room, work_.settings.far());
}

void TreeDomains::begin_tree(int count) {
  Octree tree{
      .count = own_bodies(), .first_body = layout_.first_body(index_), .first_cell = layout_.first_cell(index_)};
  const int most_cells = layout_.end_cell(index_) - tree.first_cell;
  tree.end_cell = tree.first_cell + (layout_.trees() > 1 ? cells_.room(own_bodies(), most_cells) : most_cells);
  work_.settings.apply_to(tree, count);
  work_.arrays.apply_to(tree, /*has_whole_arrays=*/leads());
  tree.trees = layout_.trees();
  for (int i = 0; i < tree.trees; ++i) tree.roots[i] = layout_.first_cell(i);
  if (gives_needed_ && exchanges()) essential_.note_in(tree);
  work_.tree = tree;
}

void TreeDomains::begin_layout(const ForceArgs& args, std::span<const Part> parts) {
  const DomainLayout earlier = layout_;
  layout_ = DomainLayout{args.count, parts, work_.settings.leaf()};
  if (layout_ != earlier) essential_.forget();
  begin_tree(args.count);
}

auto TreeDomains::share_out(const ForceArgs& args, std::span<const Part> parts) -> Blocks {
  work_.begin(args);
  if (!work_.keeps_cells) {
    begin_layout(args, parts);
    divide_bodies(args);
  }
  work_.flag_targets(args);
  gather_others(args);
  return {};
}

void TreeDomains::divide_bodies(const ForceArgs& args) {
  Octree all = work_.tree;
  all.count = args.count;
  const KeyBuffers buffers = work_.arrays.key_buffers(args.count);
  find_keys(work_.device, all, args.bodies, buffers.keys, buffers.numbers, args.stream);
  own_keys_ = buffers;
  order_ = buffers.numbers;
  if (layout_.trees() == 1) return;
  std::vector<int> ranks;
  for (int domain = 1; domain < layout_.trees(); ++domain) ranks.push_back(layout_.first_body(domain));
  auto* const stretches = reinterpret_cast<unsigned char*>(sums_.data());
  order_ = keys_.order({buffers.keys, buffers.numbers, buffers.other_numbers, args.count}, ranks,
                       {stretches, work_.arrays.sort_space(), work_.arrays.sort_bytes()}, args.stream);
  int* const other = order_ == buffers.numbers ? buffers.other_numbers : buffers.numbers;
  own_keys_ = {buffers.other_keys, buffers.keys, order_, other};
}

void TreeDomains::gather_others(const ForceArgs& args) {
  const int first = own_bodies(), count = args.count - first;
  if (count == 0) return;
  gather_bodies(args.bodies, order_ + first, count, sums_.data() + first, args.stream);
  if (!args.targets) return;
  constexpr std::size_t word = 4;  // NCCL reads whole words, also at the end of the flags
  take_scratch(work_.device, others_flags_, size_of(args.count) + word - 1, "cuda-tree: the flags of the targets",
               "fewer bodies");
  pick_flags(work_.is_target.data(), order_ + first, count, others_flags_.data() + first, args.stream);
}

auto TreeDomains::share_of(const ForceArgs& args, const Part& part) -> Blocks {
  const int first = layout_.first_body(part.index), end = first + layout_.bodies(part.index);
  return {range_of(sums_.data(), first, end),
          {&work_.tree.state->cube, work_.keeps_cells ? 0 : sizeof(TreeCube)},
          range_of(others_flags_.data(), first, args.targets ? end : first)};
}

auto TreeDomains::receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared)
    -> Blocks {
  work_.keeps_cells = shared[1].bytes == 0;
  if (!work_.keeps_cells) {
    begin_layout(args, parts);
  }
  work_.take_flags(shared[2].bytes > 0 ? size_of(DomainLayout::most_bodies(args.count, devices_)) : 0);
  return {
      {received_.data(), shared[0].bytes}, {cube_.data(), shared[1].bytes}, {work_.is_target.data(), shared[2].bytes}};
}

void TreeDomains::begin_part(const ForceArgs& args, const Part& /*part*/) {
  if (is_first()) work_.log.next_phase();
  if (own_bodies() > 0) {
    if (!work_.keeps_cells) sort_own(args);
    order_own(args);
  }
  if (is_first()) work_.log.next_phase();
  if (own_bodies() == 0) return;
  work_.build(args);
  if (!gives_needed_ || !exchanges()) return;
  if (args.law != noted_law_) essential_.forget();  // pulls under this law may be much weaker
  noted_law_ = args.law;
  essential_.outline(work_.tree, /*walks_all=*/!args.targets, args.stream);
}

void TreeDomains::order_own(const ForceArgs& args) {
  const Octree& tree = work_.tree;
  const int* const order = tree.order + tree.first_body;
  if (!holds_) {
    gather_bodies(leads() ? args.bodies : received_.data(), order, tree.count, tree.bodies + tree.first_body,
                  args.stream);
  } else if (!work_.keeps_cells) {
    migration_.take(order, held(), args.stream);
  }
}

void TreeDomains::sort_own(const ForceArgs& args) {
  Octree& tree = work_.tree;
  if (!leads()) {
    own_keys_ = work_.arrays.key_buffers(tree.count);
    find_keys_in(holds_ ? migration_.cube() : cube_.data(), tree,
                 holds_ ? migration_.arrived().positions : received_.data(), own_keys_.keys, own_keys_.numbers,
                 args.stream);
  } else if (layout_.trees() > 1) {
    pick_keys(work_.arrays.keys(), order_, tree.count, own_keys_.keys, args.stream);
  }
  sort_keys(own_keys_, tree.count, work_.arrays.sort_space(), work_.arrays.sort_bytes(), args.stream);
  if (leads() && layout_.trees() == 1) order_ = own_keys_.numbers;
  if (leads() && own_keys_.numbers != order_) {
    ORRERY_CUDA_CHECK(cudaMemcpyAsync(order_, own_keys_.numbers, size_of(tree.count) * sizeof(int),
                                      cudaMemcpyDeviceToDevice, args.stream));
  }
  tree.keys = own_keys_.keys - tree.first_body;
  tree.order = (leads() ? order_ : own_keys_.numbers) - tree.first_body;
  auto* const accelerations = leads() ? sums_.data() : reinterpret_cast<Vec4*>(work_.arrays.keys());
  tree.accelerations = accelerations - tree.first_body;
}

auto TreeDomains::walked(int domain, int end_cell) const -> Blocks {
  const Octree& tree = work_.tree;
  const int first_body = layout_.first_body(domain), end_body = first_body + layout_.bodies(domain);
  const int first = layout_.first_cell(domain);
  Blocks blocks{range_of(tree.bodies, first_body, end_body), range_of(tree.nodes, first, end_cell)};
  for (Vec4* array : {tree.tests, tree.moments_a, tree.moments_b}) blocks.push_back(range_of(array, first, end_cell));
  if (tree.high_moments) blocks.push_back(range_of(tree.high_moments, first, end_cell, high::stored_vectors));
  return blocks;
}

auto TreeDomains::offer(const ForceArgs& /*args*/, const Part& part) -> Blocks {
  return walked(part.index, work_.tree.end_cell);
}

auto TreeDomains::places_of_offer(const ForceArgs& /*args*/, const Part& other) -> Blocks {
  return walked(other.index, layout_.end_cell(other.index));
}

void TreeDomains::evaluate_part(const ForceArgs& args, const Part& /*part*/) {
  if (is_first()) work_.log.next_phase();
  if (own_bodies() == 0) return;
  work_.walk(args);
  if (!work_.keeps_cells) cells_.note(&work_.tree.state->found.cells, args.stream);
  if (leads() || holds_) return;
  const Octree& tree = work_.tree;
  spread_entries(tree.accelerations + tree.first_body, tree.order + tree.first_body, tree.count, received_.data(),
                 args.stream);
}

auto TreeDomains::results(const ForceArgs& /*args*/, const Part& /*part*/) -> Blocks {
  return {range_of(received_.data(), 0, own_bodies()),
          {&work_.tree.state->found, own_bodies() > 0 ? sizeof(TreeCounts) : 0}};
}

auto TreeDomains::places(const ForceArgs& /*args*/, const Part& part) -> Blocks {
  const int first = layout_.first_body(part.index), end = first + layout_.bodies(part.index);
  return {range_of(sums_.data(), first, end), {counts_.data() + part.index, end > first ? sizeof(TreeCounts) : 0}};
}

void TreeDomains::join(const ForceArgs& args, std::span<const Part> /*parts*/) {
  OnAll<const TreeCounts> all{.of = {&work_.tree.state->found}, .devices = layout_.trees()};
  for (int i = 1; i < all.devices; ++i) all.of[i] = counts_.data() + i;
  join_counts<<<1, 1, 0, args.stream>>>(all, counts_.data());
  ORRERY_CUDA_CHECK_LAUNCH(join_counts);
  work_.finish(args, sums_.data(), order_, counts_.data());
}

const int* TreeDomains::find_owners(int count, cudaStream_t stream) {
  if (!order_ || work_.count != count) return nullptr;
  take_scratch(work_.device, owners_, size_of(count), "cuda-tree: the bodies' domains", "fewer bodies");
  constexpr int block = 256;
  name_owners<<<cuda::ceil_div(count, block), block, 0, stream>>>(order_, count, layout_.first_bodies(),
                                                                  owners_.data());
  ORRERY_CUDA_CHECK_LAUNCH(name_owners);
  return owners_.data();
}

auto TreeDomains::shown(int domain, int end_cell, OctreeState* state) const -> Blocks {
  const Octree& tree = work_.tree;
  const int first = layout_.first_cell(domain);
  Blocks blocks{range_of(tree.links, first, end_cell)};
  for (Vec4* array : {tree.low, tree.high}) blocks.push_back(range_of(array, first, end_cell));
  blocks.push_back({state, sizeof(OctreeState)});
  if (gives_needed_) {  // otherwise the leader has all bodies
    const int first_body = layout_.first_body(domain);
    blocks.push_back(range_of(tree.bodies, first_body, first_body + layout_.bodies(domain)));
  }
  return blocks;
}

auto TreeDomains::cells(int index) -> Blocks {
  return exchanges() ? shown(index, work_.tree.end_cell, work_.tree.state) : Blocks{};
}

auto TreeDomains::places_of_cells(int index) -> Blocks {
  return exchanges() ? shown(index, layout_.end_cell(index), work_.arrays.states() + index) : Blocks{};
}

void TreeDomains::prepare_choice() {
  gives_needed_ = true;
  chosen_.prepare(index_, devices_);
  cuda::clear(work_.device, essential_.outlined());  // the whole outline is sent, including unused boxes
}

void TreeDomains::finish_residents(const ForceArgs& args) {
  join_counts<<<1, 1, 0, args.stream>>>(all_counts_, counts_.data());
  ORRERY_CUDA_CHECK_LAUNCH(join_counts);
  work_.finish_counts(args, counts_.data());
}

// Bodies that the devices of cuda-tree hold, each the bodies of its domain.

void TreeDomains::prepare_residence(int count, int index, std::span<const Part> parts) {
  const auto devices = static_cast<int>(parts.size());
  sums_ = {}, received_ = {}, others_flags_ = {}, owners_ = {};
  prepare(count, index, devices, /*holds=*/true);
  migration_.prepare(DomainLayout::most_bodies(count, devices), index, devices, work_.arrays.arrived());
  gives_needed_ = true;  // before begin_tree()
  layout_ = DomainLayout{count, parts, work_.settings.leaf()};
  begin_tree(count);
}

void TreeDomains::connect(std::span<PeerFacet* const> all) {
  gives_needed_ = true;
  std::vector<const EssentialTrees*> essential;
  std::vector<Octree> arrays(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& other = static_cast<const TreeDomains&>(*all[i]);
    essential.push_back(&other.essential_);
    other.work_.arrays.apply_to(arrays[i], /*has_whole_arrays=*/true);
  }
  essential_.connect(essential, arrays);
  if (!holds_) return;
  std::vector<const DomainMigration*> migrations;
  for (const PeerFacet* const each : all) migrations.push_back(&static_cast<const TreeDomains&>(*each).migration_);
  migration_.connect(migrations);
  all_counts_.devices = static_cast<int>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) all_counts_.of[i] = &arrays[i].state->found;
}

ResidentBodies TreeDomains::held() {
  const Octree& tree = work_.tree;
  return {.count = tree.count,
          .positions = tree.bodies + tree.first_body,
          .velocities = migration_.velocities(),
          .accelerations = tree.accelerations ? tree.accelerations + tree.first_body : nullptr,
          .ids = migration_.ids()};
}

/// Makes only as many steps of the search for borders as an earlier evaluation needed. If they are not enough, domains
/// overlap in this evaluation, and a later one makes all steps.
int TreeDomains::begin_residents(const ForceArgs& args) {
  work_.begin(args);
  if (work_.keeps_cells) return 0;
  const int needed = border_steps_.value();
  return migration_.rounds(needed > 0 ? needed : DomainMigration::most_steps);
}

void TreeDomains::divide(const ForceArgs& args, std::span<const Part> parts, int rounds) {
  work_.keeps_cells = rounds == 0;
  if (rounds == 0) return;
  before_ = held();
  earlier_ = layout_.first_body(index_);
  begin_layout(args, parts);
  migration_.begin(rounds);
}

void TreeDomains::round(int number, const ForceArgs& args) {
  migration_.round(number,
                   {.from = before_,
                    .earlier = earlier_,
                    .to = layout_,
                    .of_all = args.count,
                    .keys = work_.arrays.keys(),
                    .steps_needed = is_first() ? border_steps_.place() : nullptr},
                   args.stream);
}

void TreeDomains::prepare_shipment() {
  migration_.prepare_copies();
  take_scratch(work_.device, counts_, most_devices, "cuda-tree: the counters", "fewer ranks");
  all_counts_ = {.of = {&work_.arrays.states()->found}, .devices = devices_};
  for (int i = 1; i < devices_; ++i) all_counts_.of[i] = counts_.data() + i;
}

}  // namespace orrery
