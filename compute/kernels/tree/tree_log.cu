#include "compute/cuda/launch.h"
#include "compute/kernels/tree/tree_log.h"

namespace orrery {
namespace {

__global__ void __launch_bounds__(1024)
    finish_bodies(const Vec4* __restrict__ sums, const int* __restrict__ order, int count, Epilogue epilogue,
                  const TreeCounts* __restrict__ counts, std::uint64_t* evaluated, TreeCounts* found) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0) {
    if (evaluated) *evaluated += counts->interactions;
    *found = *counts;
  }
  if (i >= count) return;
  const Vec4 sum = sums[i];
  epilogue.finish(order[i], sum.w, {sum.x, sum.y, sum.z});
}

}  // namespace

TreeLog::Evaluation::Evaluation(const cuda::Device& device, std::size_t phases) : done{device} {
  for (std::size_t phase = 0; phase < phases; ++phase) begins.emplace_back(device);
}

TreeLog::TreeLog(const cuda::Device& device, std::span<const char* const> phases)
    : phases_{phases},
      counts_{device, slots, /*pinned=*/true},
      evaluations_{Evaluation{device, phases.size()}, Evaluation{device, phases.size()},
                   Evaluation{device, phases.size()}} {}

void TreeLog::begin(const ForceArgs& args) {
  const auto is_free = [&] { return !evaluations_[awaited_].enqueued || evaluations_[awaited_].done.reached(); };
  if (evaluations_[awaited_].enqueued && is_free()) awaited_ = 1 - awaited_;
  latest_ = is_free() ? awaited_ : unread_slot;
  Evaluation& evaluation = evaluations_[latest_];
  evaluation.enqueued = true;
  evaluation.timed = args.times_phases;
  stream_ = args.stream;
  phase_ = 0;
  next_phase();
}

void TreeLog::next_phase() {
  Evaluation& evaluation = evaluations_[latest_];
  if (evaluation.timed) evaluation.begins[phase_].record(stream_);
  ++phase_;
}

void TreeLog::finish(const ForceArgs& args, const Vec4* d_sums, const int* d_order, const TreeCounts* d_counts,
                     int block) {
  next_phase();
  finish_bodies<<<cuda::ceil_div(args.count, block), block, 0, stream_>>>(
      d_sums, d_order, args.count, args.epilogue, d_counts, args.evaluated, counts_.first(slots).data() + latest_);
  ORRERY_CUDA_CHECK_LAUNCH(finish_bodies);
  evaluations_[latest_].done.record(stream_);
}

std::optional<TreeReport> TreeLog::report() const {
  for (const std::size_t slot : {awaited_, 1 - awaited_}) {
    const Evaluation& evaluation = evaluations_[slot];
    if (!evaluation.enqueued || !evaluation.done.reached()) continue;
    const TreeCounts& found = counts_.first(slots)[slot];
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
  return {};
}

}  // namespace orrery
