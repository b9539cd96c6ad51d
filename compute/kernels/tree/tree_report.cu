#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/kernels/tree/tree_report.h"
#include "compute/kernels/tree/tree_tunables.h"

namespace orrery {
namespace {

/// Destinations of an evaluation's counts.
struct CountDestinations {
  std::uint64_t* evaluated;  // running sum of the interactions; null: not wanted
  TreeCounts* found;
  std::uint64_t* noted;  // interactions of this evaluation; null: not wanted

  __device__ void store(const TreeCounts& counts) const {
    if (evaluated) *evaluated += counts.interactions;
    *found = counts;
    if (noted) *noted = counts.interactions;
  }
};

__global__ void take_counts(const TreeCounts* counts, CountDestinations destinations) {
  destinations.store(*counts);
}

__global__ void __launch_bounds__(max_tree_block)
    finish_bodies(const Vec4* __restrict__ sums, const int* __restrict__ order, int count, Epilogue epilogue,
                  const TreeCounts* __restrict__ counts, CountDestinations destinations) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) destinations.store(*counts);
  if (i >= count) return;
  const Vec4 sum = sums[i];
  epilogue.finish(order[i], sum.w, {sum.x, sum.y, sum.z});
}

__global__ void __launch_bounds__(max_tree_block)
    finish_targets(const Vec4* __restrict__ sums, const int* __restrict__ order,
                   const unsigned char* __restrict__ is_target, int count, Epilogue epilogue,
                   const TreeCounts* __restrict__ counts, CountDestinations destinations) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) destinations.store(*counts);
  if (i >= count || !is_target[order[i]]) return;
  const Vec4 sum = sums[i];
  epilogue.finish(order[i], sum.w, {sum.x, sum.y, sum.z});
}

}  // namespace

TreeLog::Evaluation::Evaluation(const cuda::Device& device, std::size_t phases) : done{device} {
  for (std::size_t phase = 0; phase < phases; ++phase) begins.emplace_back(device);
}

TreeLog::Ring::Ring(const cuda::Device& device, std::size_t phases)
    : evaluations_{Evaluation{device, phases}, Evaluation{device, phases}, Evaluation{device, phases}} {}

std::size_t TreeLog::Ring::next() {
  if (evaluations_[awaited_].ended()) awaited_ = other(awaited_);
  return evaluations_[awaited_].in_flight() ? unread : awaited_;
}

std::optional<std::size_t> TreeLog::Ring::latest_ended() const {
  for (const std::size_t slot : {awaited_, other(awaited_)}) {
    if (evaluations_[slot].ended()) return slot;
  }
  return {};
}

TreeLog::TreeLog(const cuda::Device& device, std::span<const char* const> phases)
    : phases_{phases}, counts_{device, Ring::slots, /*pinned=*/true}, ring_{device, phases.size()} {}

void TreeLog::begin(const ForceArgs& args) {
  slot_ = ring_.next();
  Evaluation& evaluation = ring_[slot_];
  evaluation.enqueued = true;
  evaluation.timed = args.times_phases;
  stream_ = args.stream;
  marks_ = args.phase_marks;
  phase_ = 0;
  next_phase();
}

void TreeLog::next_phase() {
  Evaluation& evaluation = ring_[slot_];
  if (marks_ && phase_ > 0) marks_->end();
  if (marks_) marks_->begin(phases_[phase_]);
  if (evaluation.timed) evaluation.begins[phase_].record(stream_);
  ++phase_;
}

void TreeLog::finish(const ForceArgs& args, const Vec4* d_sums, const int* d_order, const TreeCounts* d_counts,
                     int block, const unsigned char* d_is_target, std::uint64_t* noted) {
  next_phase();
  const int blocks = cuda::ceil_div(args.count, block);
  const CountDestinations destinations{args.evaluated, counts_.first(Ring::slots).data() + slot_, noted};
  if (d_is_target) {
    finish_targets<<<blocks, block, 0, stream_>>>(d_sums, d_order, d_is_target, args.count, args.epilogue, d_counts,
                                                  destinations);
  } else {
    finish_bodies<<<blocks, block, 0, stream_>>>(d_sums, d_order, args.count, args.epilogue, d_counts, destinations);
  }
  ORRERY_CUDA_CHECK_LAUNCH(finish_bodies);
  end();
}

void TreeLog::finish_counts(const ForceArgs& args, const TreeCounts* d_counts, std::uint64_t* noted) {
  next_phase();
  const CountDestinations destinations{args.evaluated, counts_.first(Ring::slots).data() + slot_, noted};
  take_counts<<<1, 1, 0, stream_>>>(d_counts, destinations);
  ORRERY_CUDA_CHECK_LAUNCH(take_counts);
  end();
}

void TreeLog::end() {
  if (marks_) marks_->end();
  ring_[slot_].done.record(stream_);
}

std::optional<TreeReport> TreeLog::report() const {
  const auto slot = ring_.latest_ended();
  if (!slot) return {};
  const Evaluation& evaluation = ring_[*slot];
  const TreeCounts& found = counts_.first(Ring::slots)[*slot];
  TreeReport report;
  report.interactions = static_cast<std::int64_t>(found.interactions);
  report.cells = found.cells;
  report.depth = found.depth;
  for (std::size_t phase = 0; evaluation.timed && phase < phases_.size(); ++phase) {
    const cuda::Event& end = phase + 1 < phases_.size() ? evaluation.begins[phase + 1] : evaluation.done;
    report.phases.push_back({phases_[phase], cuda::elapsed_ms(evaluation.begins[phase], end)});
  }
  return report;
}

void CellPicker::prepare(int most) {
  const auto size = static_cast<std::size_t>(most);
  if (d_levels_.size() == 0) {
    d_levels_ = cuda::DeviceArray<Levels>(device_, 1);
    levels_ = cuda::HostArray<Levels>(device_, 1, /*pinned=*/true);
  }
  if (cells_.size() >= size) return;
  most_ = 0;
  d_cells_ = cuda::DeviceArray<TreeCell>(device_, size);
  cells_ = cuda::HostArray<TreeCell>(device_, size, /*pinned=*/true);
}

std::optional<PickedCells> CellPicker::cells() const {
  if (most_ == 0) return std::nullopt;
  int count = 0;
  for (const int cells : levels_.first(1)[0].cells) count += cells;
  const std::span<const TreeCell> picked = cells_.first(std::min(count, most_));
  return PickedCells{.cells = {picked.begin(), picked.end()}, .count = count, .walk = {}};
}

}  // namespace orrery
