#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compute/cuda/arrays.h"
#include "compute/cuda/stream.h"
#include "compute/sim/engine/engine.h"

namespace orrery {

/// Force evaluations timed in one batch; a batch of more steps times some of them, since two events cost some us.
inline constexpr int max_timed_steps = 8;
/// The first ones in these steps: a step of hermite4-blocks may have 32,768, and a batch keeps its events.
inline constexpr std::size_t max_timed_evaluations = 2048;
/// Times evaluations in 1 of 16 short batches: the events keep each kernel from starting while the one before ends,
/// which would show in every step's time.
inline constexpr int batches_for_a_timed_one = 16;

/// A batch on the stream: what was asked for, and the time stamps of its steps.
struct CudaBatch {
  explicit CudaBatch(const cuda::Device& device) : begin{device}, end{device}, done{device} {}

  BatchRequest request;
  int evaluations = 0;
  std::vector<int> evaluations_before;  // each step
  double interactions = 0;              // of all evaluations, unless by a tree
  float time_step = 0;
  double map_ms = 0, unmap_ms = 0;
  cuda::Event begin, end;  // of the steps
  cuda::Event done;        // of what follows them as well
  std::vector<std::pair<cuda::Event, cuda::Event>> force;
  std::size_t timed_evaluations = 0;  // of `force`, those that this batch used
  std::int64_t probed_step = -1;      // -1: none
  bool is_tree = false;
  std::optional<LevelCounts> levels;              // of the last step, if it has any
  cuda::DeviceArray<std::uint64_t> evaluated;     // of a tree: its interactions
  cuda::HostArray<std::uint64_t> evaluated_here;  // the same, once `done`

  /// For another batch; the events stay.
  void reset() {
    evaluations = 0;
    evaluations_before.clear();
    interactions = 0;
    levels.reset();
    timed_evaluations = 0;
    probed_step = -1;
  }

  /// Of so many interactions.
  void count_evaluation(double of_it) {
    ++evaluations;
    interactions += of_it;
  }

  /// Of the timed evaluations, forgets those after the first `most`: they had no bodies.
  void keep_timed(std::size_t most) { timed_evaluations = std::min(timed_evaluations, most); }

  /// Before the steps of a tree.
  void count_interactions(const cuda::Device& device, cudaStream_t stream) {
    if (evaluated.size() == 0) {
      evaluated = cuda::DeviceArray<std::uint64_t>(device, 1);
      evaluated_here = cuda::HostArray<std::uint64_t>(device, 1, /*pinned=*/true);
    }
    ORRERY_CUDA_CHECK(cudaMemsetAsync(evaluated.data(), 0, sizeof(std::uint64_t), stream));
  }
  /// After them.
  void fetch_interactions(cudaStream_t stream) { cuda::download(evaluated.data(), evaluated_here.first(1), stream); }
  /// Once `done`: on average.
  double interactions_per_evaluation() const {
    const double all = is_tree ? static_cast<double>(evaluated_here.first(1)[0]) : interactions;
    return all / std::max(evaluations, 1);
  }

  /// Whether a step is timed, the first being 0: every steps/timed-th is, so that the sample is spread over the batch.
  bool times_step(int step, int timed) const {
    const auto timed_before = [&](int end) { return static_cast<std::int64_t>(end) * timed / request.steps; };
    return timed_before(step + 1) != timed_before(step);
  }

  std::int64_t last_step() const { return request.begin.step + request.steps; }

  /// `probe_ms` of the time were not spent on steps. If no evaluation was timed, `force_share` of the steps' time
  /// counts as theirs. After a non-finite body, the times are still those of whole steps, since the kernels ran on.
  StepTiming timing(double probe_ms, double force_share, const std::optional<NonFinite>& non_finite) const {
    const double steps_ms = cuda::elapsed_ms(begin, end) - probe_ms;
    double evaluation_ms = force_share * steps_ms / std::max(evaluations, 1);
    if (timed_evaluations > 0) {
      double timed_ms = 0;
      for (std::size_t i = 0; i < timed_evaluations; ++i) timed_ms += cuda::elapsed_ms(force[i].first, force[i].second);
      evaluation_ms = timed_ms / static_cast<double>(timed_evaluations);
    }
    StepTiming timing =
        batch_timing(request.tag, request.steps, evaluations, steps_ms, evaluation_ms, interactions_per_evaluation());
    timing.map_ms = map_ms;
    timing.unmap_ms = unmap_ms;
    if (non_finite) {
      timing.steps = static_cast<int>(std::max<std::int64_t>(non_finite->step - request.begin.step, 0));
      if (timing.steps < request.steps) {
        timing.evaluations = evaluations_before[static_cast<std::size_t>(timing.steps)];
      }
    }
    return timing;
  }
};

/// Of a batch that the stream has passed. The report may be that of a batch enqueued later; the interactions and the
/// cells are this one's.
inline void describe_tree(const TreeFacet& tree, const CudaBatch& batch, BatchResult& result) {
  if (batch.evaluations > 0) {
    result.tree = tree.report();
    if (result.tree) result.tree->interactions = std::llround(batch.interactions_per_evaluation());
  }
  if (const CellRequest& asked = batch.request.tree_cells; asked.most > 0) {
    result.tree_cells = tree_cells_of(tree, batch.last_step(), asked);
  }
}

}  // namespace orrery
