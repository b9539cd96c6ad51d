#pragma once

#include <cstdint>
#include <optional>

#include "app/runs/run_order.h"
#include "compute/sim/command.h"

namespace orrery {

/// The steps of a run: the last one, and those with outputs, which have numbers from 0 on.
class RunSchedule {
 public:
  /// From the state `now`, whose own outputs may be due: an earlier run could not write them. Throws UsageError for an
  /// order that cannot be met from there.
  RunSchedule(const Status& now, const RunOrder& order, bool outputs_due);

  std::int64_t last_step() const { return last_step_; }
  bool has_outputs() const { return event_steps_ > 0; }
  /// The number of the outputs that a run has last had at `step`.
  std::int64_t latest_event(std::int64_t step) const;
  /// The next step after `step` with outputs, or the last one.
  std::int64_t next_event(std::int64_t step) const;
  /// The number of the outputs that belong to `step`; none: it has no outputs. The last step has some in any case.
  std::optional<std::int64_t> event_at(std::int64_t step) const;

 private:
  std::int64_t step_of(std::int64_t event) const;

  std::int64_t last_step_ = 0;
  double event_steps_ = 0;  // between outputs; 0: there are none
};

}  // namespace orrery
