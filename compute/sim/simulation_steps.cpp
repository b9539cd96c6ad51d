// How a simulation's batches of steps start and end.
#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "compute/sim/simulation.h"

namespace orrery {

int Simulation::advance_frame(std::int64_t tag) {
  int steps = 0;
  try {
    if (!failed_) steps = start_frame(tag);
  } catch (const std::exception& failure) {
    report_failure(failure);
  }
  if (failed_) return_to_proven_kernel();
  return steps;
}

int Simulation::start_frame(std::int64_t tag) {
  if (!engine().ready()) return 0;
  gather_or_report();  // what has ended may have met a non-finite body, or have failed
  if (measuring()) return 0;
  if (preparing_ && preparing_->ended()) return 0;  // it takes over when no steps are in flight
  const int steps = step_once_ ? 1 : paused_ ? 0 : steps_per_frame_;
  if (steps == 0) {
    if (diagnostics_.wants_no_step() && !diagnostics_.non_finite() && in_flight_.empty()) start(0, tag);
    return 0;
  }
  step_once_ = false;
  start(steps, tag);
  return steps;
}

void Simulation::start(int steps, std::int64_t tag) {
  progress_changed_ = true;
  if (diagnostics_.non_finite()) throw std::runtime_error(diagnostics_.line());
  BatchRequest request{.tag = tag, .steps = steps, .begin = after_all()};
  Measuring measuring;
  for (const auto& [before, time_step] : in_flight_) {
    measuring.forces |= before.probe.sample > 0;
    measuring.conserved |= before.measure_conserved;
    measuring.cells |= before.tree_cells.most > 0;
    measuring.accelerations |= before.accelerations;
  }
  diagnostics_.add_to(request, measuring);
  if (!kernel_->tree()) request.tree_cells = {};
  engine().advance(request);
  if (in_flight_.empty()) progress_ = std::chrono::steady_clock::now();
  in_flight_.push_back({request, choice_.time_step});
}

StepTiming Simulation::run(int steps) {
  wait();
  start(steps, 0);
  wait();
  if (diagnostics_.non_finite()) throw std::runtime_error(diagnostics_.line());
  if (collected_.empty()) throw std::runtime_error("a step was cancelled");
  const StepTiming timing = collected_.back();
  collected_.pop_back();
  return timing;
}

/// Takes in what the engine finished, perhaps a checkpoint as well. Throws what a batch failed with.
void Simulation::gather() {
  progress_changed_ = true;
  try {
    for (std::vector<BatchResult> ended = engine().collect(); !ended.empty(); ended = engine().collect()) {
      for (const BatchResult& result : ended) take_in(result);
    }
    require_progress();
  } catch (const std::bad_alloc&) {
    in_flight_.clear();
    throw std::runtime_error("not enough memory for a step of " + std::to_string(count_) + " bodies");
  } catch (...) {
    in_flight_.clear();
    throw;
  }
}

void Simulation::take_in(const BatchResult& result) {
  progress_ = std::chrono::steady_clock::now();
  const InFlight asked = in_flight_.front();
  in_flight_.pop_front();
  if (diagnostics_.non_finite()) return;  // what was enqueued behind it did nothing
  const StepTiming& timing = result.timing;
  done_ = asked.request.begin.after(timing.steps, asked.time_step);
  diagnostics_.take_in(result);
  if (asked.request.steps == 0 && asked.request.tree_cells.most > 0 && !result.tree_cells) diagnostics_.forget_tree();
  if (result.non_finite) {
    diagnostics_.stop(*result.non_finite, choice_.kernel->id);
    paused_ = true;
    step_once_ = false;
    last_error_ = diagnostics_.line();
  }
  if (timing.steps == 0) return;
  if (!std::exchange(is_proven_, true)) {
    if (proven_ && !same_kernel(*proven_->kernel, *choice_.kernel)) proven_before_ = proven_;
    proven_ = {choice_.kernel, choice_.settings, choice_.automatic};
  }
  timing_ = timing;
  collected_.push_back(timing);
}

/// As gather(), for those who cannot take an exception.
void Simulation::gather_or_report() {
  try {
    gather();
  } catch (const std::exception& failure) {
    report_failure(failure);
  }
}

std::vector<StepTiming> Simulation::collect() {
  gather_or_report();
  take_over_choice();
  start_choice();
  take_over_preparation();
  return std::exchange(collected_, {});
}

void Simulation::wait(const std::stop_token& stop) {
  engine().wait(stop);
  gather();
}

/// A kernel that hangs cannot be cancelled. Call before another one is made: to destroy that would wait for the device.
void Simulation::wait_for_watched_steps() {
  constexpr std::chrono::microseconds nap{100};
  while (watched()) {
    gather();
    if (watched()) std::this_thread::sleep_for(nap);
  }
}

void Simulation::cancel_and_wait() {
  wait_for_watched_steps();
  engine().cancel_and_wait();
  gather();
}

}  // namespace orrery
