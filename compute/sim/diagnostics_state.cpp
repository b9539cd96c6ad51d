#include "compute/sim/diagnostics_state.h"

#include <utility>
#include <vector>

#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr int max_sample = 4096;

}  // namespace

void DiagnosticsState::ask(const ProbeForces& command) {
  if (command.sample < 1 || command.sample > max_sample) {
    throw UsageError("a force probe cannot take " + std::to_string(command.sample) + " bodies; it must be 1 to " +
                     std::to_string(max_sample));
  }
  sample_wanted_ = command.sample;
}

void DiagnosticsState::ask(const ReadTreeCells& command) {
  if (command.most < 1 || command.most > ReadTreeCells::max_tree_cells) {
    throw UsageError("cannot read " + std::to_string(command.most) + " cells of a tree; it must be 1 to " +
                     std::to_string(ReadTreeCells::max_tree_cells));
  }
  tree_cells_wanted_ = command.most;
}

void DiagnosticsState::add_to(BatchRequest& request, const Measuring& under_way) {
  if (!under_way.cells) request.tree_cells = std::exchange(tree_cells_wanted_, 0);
  if (request.steps == 0) return;
  if (!under_way.forces) request.probe_sample = std::exchange(sample_wanted_, 0);
  if (!under_way.conserved) request.measure_conserved = std::exchange(conserved_wanted_, false);
}

void DiagnosticsState::take_in(const BatchResult& result) {
  if (result.force_probe) force_probe_ = result.force_probe;
  if (result.conserved) conserved_ = result.conserved;
  if (result.tree) {
    std::vector<TreePhase> phases = tree_ ? std::move(tree_->phases) : std::vector<TreePhase>{};
    tree_ = result.tree;
    if (tree_->phases.empty()) tree_->phases = std::move(phases);  // only some batches time them
  }
  if (result.tree_cells) tree_cells_ = result.tree_cells;
}

void DiagnosticsState::stop(const Fault& fault, const std::string& kernel_id, const std::optional<Moment>& good) {
  fault_ = fault;
  line_ = "body " + std::to_string(fault.body) + " is not finite after step " + std::to_string(fault.step) +
          " (kernel " + kernel_id + "): paused; " +
          (good ? "the last good state is that of step " + std::to_string(good->step) : "Reset starts again");
}

void DiagnosticsState::forget_forces() {
  force_probe_.reset();
  tree_.reset();
  tree_cells_.reset();
}

void DiagnosticsState::restart() {
  forget_forces();
  conserved_.reset();
  fault_.reset();
  line_.clear();
}

void DiagnosticsState::return_to(std::int64_t step) {
  if (force_probe_ && force_probe_->step > step) force_probe_.reset();
  if (conserved_ && conserved_->step > step) conserved_.reset();
  tree_.reset();  // the bodies are no longer those that it stands on
  tree_cells_.reset();
  fault_.reset();
  line_.clear();
}

}  // namespace orrery
