#include "compute/sim/diagnostics_state.h"

#include <utility>
#include <vector>

namespace orrery {
void DiagnosticsState::add_to(BatchRequest& request, const Measuring& in_flight) {
  if (!in_flight.cells) request.tree_cells = std::exchange(cells_wanted_, {});
  if (!in_flight.accelerations) request.accelerations = std::exchange(accelerations_wanted_, false);
  request.domains = std::exchange(domains_wanted_, false);
  if (!in_flight.forces) {
    const ProbeForces probe = std::exchange(probe_wanted_, {});
    request.probe = {probe.sample, probe.turn, probe.body};
  }
  if (!in_flight.conserved) request.measure_conserved = std::exchange(conserved_wanted_, false);
}

void DiagnosticsState::take_in(const BatchResult& result) {
  if (result.force_probe) force_probe_ = result.force_probe;
  if (result.conserved) conserved_ = result.conserved;
  if (result.tree) {
    const std::optional<TreeReport> before = std::exchange(tree_, result.tree);
    if (before && tree_->phases.empty()) {  // only some batches time them
      tree_->phases = before->phases;
      tree_->phases_age = before->phases_age + result.timing.steps;
    }
  }
  if (result.levels) levels_ = result.levels;
  if (!result.device_loads.empty()) device_loads_ = result.device_loads;
  if (result.accelerations) accelerations_ = result.accelerations;
  if (result.domains) domains_ = result.domains;
  if (result.tree_cells) tree_cells_ = result.tree_cells;
}

void DiagnosticsState::stop(const NonFinite& body, const std::string& kernel_id) {
  non_finite_ = body;
  domains_.reset();  // of the step before
  line_ = "body " + std::to_string(body.body) + " is not finite after step " + std::to_string(body.step) + " (kernel " +
          kernel_id + "): the run stops there";
}

void DiagnosticsState::forget_forces() {
  force_probe_.reset();
  accelerations_.reset();
  tree_.reset();
  tree_cells_.reset();
  device_loads_.clear();
  domains_.reset();
}

void DiagnosticsState::restart() {
  forget_forces();
  forget_levels();
  conserved_.reset();
  non_finite_.reset();
  line_.clear();
}

void DiagnosticsState::return_to(std::int64_t step) {
  if (force_probe_ && force_probe_->step > step) force_probe_.reset();
  if (conserved_ && conserved_->step > step) conserved_.reset();
  accelerations_.reset();
  domains_.reset();
  forget_levels();
  tree_.reset();  // the bodies are no longer those that it stands on
  tree_cells_.reset();
  non_finite_.reset();
  line_.clear();
}

}  // namespace orrery
