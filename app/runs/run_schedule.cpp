#include "app/runs/run_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/error.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr double most_steps = 1e15;  // whole in a double
constexpr double events_without_every = 100;

/// The first step that reaches the time.
std::int64_t step_at(double sim_time, const Status& now) {
  const double left = (sim_time - now.sim_time) / nominal_step(now.time_step);
  const double steps = std::ceil(left - rounding_of_steps(left + static_cast<double>(now.step)));
  if (!(steps < most_steps)) {
    throw UsageError(
        fmt::format("until t = {:g} there are {:g} steps of {:g}: too many", sim_time, steps, now.time_step));
  }
  return now.step + static_cast<std::int64_t>(std::max(steps, 0.0));
}

/// Whether the run ends with the present step, and not with one before it.
bool ends_here(const RunOrder& order, const Status& now) {
  if (order.steps) return *order.steps == now.step;
  return *order.until >
         now.sim_time - (1 - rounding_of_steps(static_cast<double>(now.step))) * nominal_step(now.time_step);
}

}  // namespace

RunSchedule::RunSchedule(const Status& now, const RunOrder& order, bool outputs_due) {
  if (!order.steps && !order.until) throw UsageError("a run needs its end: --steps K or --until T");
  last_step_ = order.steps ? *order.steps : step_at(*order.until, now);
  const bool was_there = now.step > 0 && last_step_ <= now.step;
  const bool has_ended = was_there || (order.until && *order.until < now.sim_time);
  if (has_ended && !(outputs_due && ends_here(order, now))) {
    throw UsageError(fmt::format("the run has reached step {}, t = {:g}: name a later end with --steps K or --until T",
                                 now.step, now.sim_time));
  }
  if (order.every) {
    event_steps_ = *order.every / nominal_step(now.time_step);
    if (event_steps_ < 1 - rounding_of_steps(1)) {
      throw UsageError(fmt::format("--every {:g} is shorter than the time step {:g}", *order.every, now.time_step));
    }
  } else if (!order.diagnostics.empty()) {
    event_steps_ = std::max(1.0, static_cast<double>(last_step_) / events_without_every);
  }
}

std::int64_t RunSchedule::latest_event(std::int64_t step) const {
  auto event = static_cast<std::int64_t>(std::floor(static_cast<double>(step) / event_steps_));
  while (step_of(event + 1) <= step) ++event;
  return event;
}

std::int64_t RunSchedule::step_of(std::int64_t event) const {
  const double steps = static_cast<double>(event) * event_steps_;
  return static_cast<std::int64_t>(std::min(std::ceil(steps - rounding_of_steps(steps)), most_steps));
}

std::int64_t RunSchedule::next_event(std::int64_t step) const {
  if (!has_outputs()) return last_step_;
  return std::min(last_step_, step_of(latest_event(step) + 1));
}

std::optional<std::int64_t> RunSchedule::event_at(std::int64_t step) const {
  if (!has_outputs()) return std::nullopt;
  const std::int64_t event = latest_event(step);
  if (step_of(event) == step) return event;
  return step == last_step_ ? std::optional{event + 1} : std::nullopt;
}

}  // namespace orrery
