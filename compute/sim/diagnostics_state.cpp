#include "compute/sim/diagnostics_state.h"

#include <utility>

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

void DiagnosticsState::add_to(BatchRequest& request, bool probe_under_way, bool conserved_under_way) {
  if (!probe_under_way) request.probe_sample = std::exchange(sample_wanted_, 0);
  if (!conserved_under_way) request.measure_conserved = std::exchange(conserved_wanted_, false);
}

void DiagnosticsState::take_in(const BatchResult& result) {
  if (result.force_probe) force_probe_ = result.force_probe;
  if (result.conserved) conserved_ = result.conserved;
}

void DiagnosticsState::stop(const Fault& fault, const std::string& kernel_id, const std::optional<Moment>& good) {
  fault_ = fault;
  line_ = "body " + std::to_string(fault.body) + " is not finite after step " + std::to_string(fault.step) +
          " (kernel " + kernel_id + "): paused; " +
          (good ? "the last good state is that of step " + std::to_string(good->step) : "Reset starts again");
}

void DiagnosticsState::restart() {
  force_probe_.reset();
  conserved_.reset();
  fault_.reset();
  line_.clear();
}

void DiagnosticsState::return_to(std::int64_t step) {
  if (force_probe_ && force_probe_->step > step) force_probe_.reset();
  if (conserved_ && conserved_->step > step) conserved_.reset();
  fault_.reset();
  line_.clear();
}

}  // namespace orrery
