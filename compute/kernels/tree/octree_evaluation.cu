#include <algorithm>
#include <string>

#include "compute/cuda/arrays.h"
#include "compute/cuda/launch.h"
#include "compute/kernels/tree/octree_evaluation.h"

namespace orrery {
namespace {

static_assert(most_devices <= Octree::most_trees);

constexpr int block = 512;

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

/// Sets picked[i] = entries[order[i]] for i in [0, count), count > 0.
template <class T>
void pick_entries(const T* entries, const int* order, int count, T* picked, cudaStream_t stream) {
  pick<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, picked);
  ORRERY_CUDA_CHECK_LAUNCH(pick);
}

/// Sets to[order[i]] = entries[i] for i in [0, count), count > 0.
void spread_entries(const Vec4* entries, const int* order, int count, Vec4* to, cudaStream_t stream) {
  spread<<<cuda::ceil_div(count, block), block, 0, stream>>>(entries, order, count, to);
  ORRERY_CUDA_CHECK_LAUNCH(spread);
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

void OctreeDivision::prepare_partition(int count, int index, int devices) {
  migration_.forget();
  prepare(count, index, devices, /*holds=*/false);
}

void OctreeDivision::prepare(int count, int index, int devices, bool holds) {
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
  OctreeCapacity room{.bodies = count, .cells = DomainLayout::all_cells(count, devices, leaf)};
  if (leads()) {
    room.own_bodies = count;
    room.own_cells = room.cells;  // for TreeFacet::pick_cells()
    room.trees = devices;
    room.sort_bytes = std::max(sort_bytes(work_.device, most_bodies), DomainSort::sort_bytes(work_.device, count));
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

void OctreeDivision::begin_tree(int count) {
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

void OctreeDivision::begin_layout(const ForceArgs& args, std::span<const Part> parts) {
  const DomainLayout earlier = layout_;
  layout_ = DomainLayout{args.count, parts, work_.settings.leaf()};
  if (layout_ != earlier) essential_.forget();
  begin_tree(args.count);
}

auto OctreeDivision::prepare_inputs(const ForceArgs& args, std::span<const Part> parts) -> Blocks {
  work_.begin(args);
  if (!work_.keeps_cells) {
    begin_layout(args, parts);
    divide_bodies(args);
  }
  work_.flag_targets(args);
  gather_others(args);
  return {};
}

void OctreeDivision::divide_bodies(const ForceArgs& args) {
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

void OctreeDivision::gather_others(const ForceArgs& args) {
  const int first = own_bodies(), count = args.count - first;
  if (count == 0) return;
  gather_bodies(args.bodies, order_ + first, count, sums_.data() + first, args.stream);
  if (!args.targets) return;
  constexpr std::size_t word = 4;  // NCCL reads whole words, also at the end of the flags
  take_scratch(work_.device, others_flags_, size_of(args.count) + word - 1, "cuda-tree: the flags of the targets",
               "fewer bodies");
  pick_entries(work_.is_target.data(), order_ + first, count, others_flags_.data() + first, args.stream);
}

auto OctreeDivision::input_of(const ForceArgs& args, const Part& part) -> Blocks {
  const int first = layout_.first_body(part.index), end = first + layout_.bodies(part.index);
  return {range_of(sums_.data(), first, end),
          {&work_.tree.state->cube, work_.keeps_cells ? 0 : sizeof(TreeCube)},
          range_of(others_flags_.data(), first, args.targets ? end : first)};
}

auto OctreeDivision::receive(const ForceArgs& args, std::span<const Part> parts, std::span<const DeviceBlock> shared)
    -> Blocks {
  work_.keeps_cells = shared[1].bytes == 0;
  if (!work_.keeps_cells) {
    begin_layout(args, parts);
  }
  work_.take_flags(shared[2].bytes > 0 ? size_of(DomainLayout::most_bodies(args.count, devices_)) : 0);
  return {
      {received_.data(), shared[0].bytes}, {cube_.data(), shared[1].bytes}, {work_.is_target.data(), shared[2].bytes}};
}

void OctreeDivision::begin_part(const ForceArgs& args, const Part& /*part*/) {
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

void OctreeDivision::order_own(const ForceArgs& args) {
  const Octree& tree = work_.tree;
  const int* const order = tree.order + tree.first_body;
  if (!holds_) {
    gather_bodies(leads() ? args.bodies : received_.data(), order, tree.count, tree.bodies + tree.first_body,
                  args.stream);
  } else if (!work_.keeps_cells) {
    migration_.take(order, residents(), args.stream);
  }
}

void OctreeDivision::sort_own(const ForceArgs& args) {
  Octree& tree = work_.tree;
  if (!leads()) {
    own_keys_ = work_.arrays.key_buffers(tree.count);
    find_keys_in(holds_ ? migration_.cube() : cube_.data(), tree,
                 holds_ ? migration_.arrived().positions : received_.data(), own_keys_.keys, own_keys_.numbers,
                 args.stream);
  } else if (layout_.trees() > 1) {
    pick_entries(work_.arrays.keys(), order_, tree.count, own_keys_.keys, args.stream);
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

auto OctreeDivision::walked(int domain, int end_cell) const -> Blocks {
  const Octree& tree = work_.tree;
  const int first_body = layout_.first_body(domain), end_body = first_body + layout_.bodies(domain);
  const int first = layout_.first_cell(domain);
  Blocks blocks{range_of(tree.bodies, first_body, end_body), range_of(tree.nodes, first, end_cell)};
  for (Vec4* array : {tree.tests, tree.moments_a, tree.moments_b}) blocks.push_back(range_of(array, first, end_cell));
  if (tree.high_moments) blocks.push_back(range_of(tree.high_moments, first, end_cell, high::stored_vectors));
  return blocks;
}

auto OctreeDivision::offer(const ForceArgs& /*args*/, const Part& part) -> Blocks {
  return walked(part.index, work_.tree.end_cell);
}

auto OctreeDivision::places_of_offer(const ForceArgs& /*args*/, const Part& other) -> Blocks {
  return walked(other.index, layout_.end_cell(other.index));
}

void OctreeDivision::evaluate_part(const ForceArgs& args, const Part& /*part*/) {
  if (is_first()) work_.log.next_phase();
  if (own_bodies() == 0) return;
  work_.walk(args);
  if (!work_.keeps_cells) cells_.note(&work_.tree.state->found.cells, args.stream);
  if (leads() || holds_) return;
  const Octree& tree = work_.tree;
  spread_entries(tree.accelerations + tree.first_body, tree.order + tree.first_body, tree.count, received_.data(),
                 args.stream);
}

auto OctreeDivision::results(const ForceArgs& /*args*/, const Part& /*part*/) -> Blocks {
  return {range_of(received_.data(), 0, own_bodies()),
          {&work_.tree.state->found, own_bodies() > 0 ? sizeof(TreeCounts) : 0}};
}

auto OctreeDivision::places(const ForceArgs& /*args*/, const Part& part) -> Blocks {
  const int first = layout_.first_body(part.index), end = first + layout_.bodies(part.index);
  return {range_of(sums_.data(), first, end), {counts_.data() + part.index, end > first ? sizeof(TreeCounts) : 0}};
}

void OctreeDivision::join(const ForceArgs& args, std::span<const Part> /*parts*/) {
  OnAll<const TreeCounts> all{.of = {&work_.tree.state->found}, .devices = layout_.trees()};
  for (int i = 1; i < all.devices; ++i) all.of[i] = counts_.data() + i;
  join_counts<<<1, 1, 0, args.stream>>>(all, counts_.data());
  ORRERY_CUDA_CHECK_LAUNCH(join_counts);
  work_.finish(args, sums_.data(), order_, counts_.data());
}

const int* OctreeDivision::find_owners(int count, cudaStream_t stream) {
  if (!order_ || work_.count != count) return nullptr;
  take_scratch(work_.device, owners_, size_of(count), "cuda-tree: the bodies' domains", "fewer bodies");
  constexpr int block = 256;
  name_owners<<<cuda::ceil_div(count, block), block, 0, stream>>>(order_, count, layout_.first_bodies(),
                                                                  owners_.data());
  ORRERY_CUDA_CHECK_LAUNCH(name_owners);
  return owners_.data();
}

auto OctreeDivision::shown(int domain, int end_cell, OctreeState* state) const -> Blocks {
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

auto OctreeDivision::cells(int index) -> Blocks {
  return exchanges() ? shown(index, work_.tree.end_cell, work_.tree.state) : Blocks{};
}

auto OctreeDivision::places_of_cells(int index) -> Blocks {
  return exchanges() ? shown(index, layout_.end_cell(index), work_.arrays.states() + index) : Blocks{};
}

void OctreeDivision::prepare_choice() {
  gives_needed_ = true;
  chosen_.prepare(index_, devices_);
  cuda::clear(work_.device, essential_.outlined());  // the whole outline is sent, including unused boxes
}

void OctreeDivision::finish_residents(const ForceArgs& args) {
  join_counts<<<1, 1, 0, args.stream>>>(all_counts_, counts_.data());
  ORRERY_CUDA_CHECK_LAUNCH(join_counts);
  work_.finish_counts(args, counts_.data());
}

// Bodies that the devices of cuda-tree hold, each the bodies of its domain.

void OctreeDivision::prepare_residence(int count, int index, std::span<const Part> parts) {
  const auto devices = static_cast<int>(parts.size());
  sums_ = {}, received_ = {}, others_flags_ = {}, owners_ = {};
  prepare(count, index, devices, /*holds=*/true);
  migration_.prepare(DomainLayout::most_bodies(count, devices), index, devices, work_.arrays.arrived());
  gives_needed_ = true;  // before begin_tree()
  layout_ = DomainLayout{count, parts, work_.settings.leaf()};
  begin_tree(count);
}

void OctreeDivision::connect(std::span<PeerFacet* const> all) {
  gives_needed_ = true;
  std::vector<const EssentialTrees*> essential;
  std::vector<Octree> arrays(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& other = static_cast<const OctreeDivision&>(*all[i]);
    essential.push_back(&other.essential_);
    other.work_.arrays.apply_to(arrays[i], /*has_whole_arrays=*/true);
  }
  essential_.connect(essential, arrays);
  if (!holds_) return;
  std::vector<const DomainMigration*> migrations;
  for (const PeerFacet* const each : all) migrations.push_back(&static_cast<const OctreeDivision&>(*each).migration_);
  migration_.connect(migrations);
  all_counts_.devices = static_cast<int>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) all_counts_.of[i] = &arrays[i].state->found;
}

ResidentBodies OctreeDivision::residents() {
  const Octree& tree = work_.tree;
  return {.count = tree.count,
          .positions = tree.bodies + tree.first_body,
          .velocities = migration_.velocities(),
          .accelerations = tree.accelerations ? tree.accelerations + tree.first_body : nullptr,
          .ids = migration_.ids()};
}

/// Makes only as many steps of the search for borders as an earlier evaluation needed. If they are not enough, domains
/// overlap in this evaluation, and a later one makes all steps.
int OctreeDivision::begin_residents(const ForceArgs& args) {
  work_.begin(args);
  if (work_.keeps_cells) return 0;
  const int needed = border_steps_.value();
  return migration_.rounds(needed > 0 ? needed : DomainMigration::most_steps);
}

void OctreeDivision::divide(const ForceArgs& args, std::span<const Part> parts, int rounds) {
  work_.keeps_cells = rounds == 0;
  if (rounds == 0) return;
  before_ = residents();
  earlier_ = layout_.first_body(index_);
  begin_layout(args, parts);
  migration_.begin(rounds);
}

void OctreeDivision::round(int number, const ForceArgs& args) {
  migration_.round(number,
                   {.from = before_,
                    .earlier = earlier_,
                    .to = layout_,
                    .of_all = args.count,
                    .keys = work_.arrays.keys(),
                    .steps_needed = is_first() ? border_steps_.place() : nullptr},
                   args.stream);
}

void OctreeDivision::prepare_shipment() {
  migration_.prepare_copies();
  take_scratch(work_.device, counts_, most_devices, "cuda-tree: the counters", "fewer ranks");
  all_counts_ = {.of = {&work_.arrays.states()->found}, .devices = devices_};
  for (int i = 1; i < devices_; ++i) all_counts_.of[i] = counts_.data() + i;
}

}  // namespace orrery
