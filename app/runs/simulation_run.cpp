#include "app/runs/simulation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "app/lab/sampling.h"
#include "compute/core/descriptor.h"
#include "compute/core/error.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr double batch_ms = 200;  // a run answers to a stop and shows where it is after such a time
constexpr int most_batch_steps = 1024;
constexpr std::chrono::milliseconds pause{2};

/// Empty if it is gone.
std::filesystem::path working_folder() {
  std::error_code gone;
  return std::filesystem::current_path(gone);
}

std::optional<SnapshotSeries> series_of(const RunOrder& order) {
  if (order.snapshots.empty()) return std::nullopt;
  return SnapshotSeries{order.snapshots, order.snapshot_format};
}

}  // namespace

SimulationRun::SimulationRun(Simulation& simulation, const RunOrder& order, const Outputs& outputs)
    : simulation_{simulation},
      order_{order},
      folder_{working_folder()},
      schedule_{simulation.status(), order, outputs.due},
      id_{outputs.id},
      series_{series_of(order)},
      first_new_snapshot_{first_new_snapshot(simulation.status(), schedule_, outputs)},
      continues_snapshots_{outputs.continues_snapshots},
      snapshot_{outputs.snapshot},
      outputs_due_{outputs.due} {
  if (order.diagnostics.empty()) return;
  const std::optional<DiagnosticsPlace>& place = outputs.diagnostics;
  if (place && place->bytes > 0) {
    log_.emplace(order.diagnostics, *place, outputs.id);
  } else {
    Json metadata = outputs.metadata;
    if (!id_.empty()) metadata["run"] = id_;
    if (place) require_rows(order.diagnostics, *place, id_);
    log_.emplace(order.diagnostics, metadata, place ? Existing::replace_here : outputs.existing);
  }
}

std::int64_t SimulationRun::first_new_snapshot(const Status& now, const RunSchedule& schedule, const Outputs& outputs) {
  if (!schedule.has_outputs()) return 0;
  if (now.step == 0 && (outputs.due || !outputs.continues_snapshots)) return 0;
  return schedule.latest_event(now.step) + 1;
}

void SimulationRun::write_row(const Bodies& bodies) {
  const auto measured = [this] {
    const Status& now = simulation_.status();
    return now.conserved && now.conserved->step == now.step;
  };
  if (!measured()) {  // with the batch that ended here
    simulation_.apply(MeasureConserved{});
    simulation_.start(0, 0);
    simulation_.wait();
  }
  if (!measured()) throw std::runtime_error("the conserved sums cannot be measured");
  log_->add(*simulation_.status().conserved, bodies);
}

void SimulationRun::write_outputs(std::int64_t event, bool row, bool snapshot) {
  place_before_outputs_ = log_ ? log_->place() : std::nullopt;
  try {
    if (row) write_row(simulation_.bodies());
    if (snapshot) write_numbered(event);
    outputs_due_ = false;
  } catch (const std::runtime_error& error) {
    outputs_due_ = row || !log_;  // a row that the file has already is not due again
    const bool began_file = log_ && log_->place() && !place_before_outputs_;
    if (began_file) place_before_outputs_ = DiagnosticsPlace{};
    throw OutputFailure{failure_text(error)};
  }
}

/// A run that begins writes its first state; one that continues begins a new file of diagnostics with its own.
void SimulationRun::write_first_outputs() {
  const std::int64_t step = simulation_.status().step;
  const std::optional<std::int64_t> event = schedule_.event_at(step);
  if (!event) outputs_due_ = false;  // this order has none here
  if (!schedule_.has_outputs()) return;
  const bool new_file = log_ && !log_->place();
  if (event && (step == 0 || outputs_due_)) {
    const bool row = log_ && (outputs_due_ || new_file), snapshot = series_ && (outputs_due_ || !continues_snapshots_);
    if (row || snapshot) write_outputs(*event, row, snapshot);
  } else if (new_file) {
    write_row(simulation_.bodies());
  }
}

void SimulationRun::write_numbered(std::int64_t event) {
  write_snapshot(series_->file(event), simulation_.snapshot_view(),
                 {.existing = Existing::replace_here, .format = &series_->format()});
  ++summary_.snapshots;
  if (schedule_.latest_event(simulation_.status().step) != event) return;  // the last state: a later run replaces it
  try {
    snapshot_ = series_->mark_of(event);
  } catch (const std::runtime_error&) {
    snapshot_.reset();  // a continued run then asks before it replaces snapshots
  }
}

bool SimulationRun::run(const std::function<bool()>& stop, const std::function<void(const Progress&)>& show) {
  const bool makes_steps = simulation_.status().step < last_step();
  if (makes_steps && series_ && schedule_.has_outputs()) series_->remove_from(first_new_snapshot_);
  write_first_outputs();
  last_checkpoint_ = Clock::now();
  while (simulation_.status().step < last_step()) {
    if (stop()) return false;
    const std::int64_t end = schedule_.next_event(simulation_.status().step);
    run_batch(end, stop, show);
    const std::int64_t now = simulation_.status().step;
    if (const std::optional<std::int64_t> event = schedule_.event_at(now); event && now == end) {
      write_outputs(*event, log_.has_value(), series_.has_value());
    }
    write_checkpoint_in_time();
  }
  if (!order_.checkpoint.empty()) write_last_checkpoint();
  return true;
}

/// As many steps towards `end` as last some time, or until the present one where the run is stopped.
void SimulationRun::run_batch(std::int64_t end, const std::function<bool()>& stop,
                              const std::function<void(const Progress&)>& show) {
  const std::int64_t left = end - simulation_.status().step;
  const int planned =
      summary_.steps == 0
          ? 1
          : steps_for(batch_ms, 1e3 * summary_.steps_s / static_cast<double>(summary_.steps), most_batch_steps);
  const int steps = static_cast<int>(std::min<std::int64_t>(planned, left));
  if (log_ && steps == left) simulation_.apply(MeasureConserved{});
  simulation_.start(steps, 0);
  while (true) {
    for (const StepTiming& batch : simulation_.collect()) take_in(batch);
    const Status& now = simulation_.status();
    if (now.non_finite || !now.last_error.empty()) throw std::runtime_error(now.last_error);
    show(progress());
    if (simulation_.idle()) return;
    if (stop()) {
      std::stop_source cancel;
      cancel.request_stop();
      simulation_.wait(cancel.get_token());
      return;
    }
    std::this_thread::sleep_for(pause);
  }
}

void SimulationRun::take_in(const StepTiming& batch) {
  summary_.steps += batch.steps;
  summary_.steps_s += 1e-3 * batch.step_ms * batch.steps;
  summary_.interactions += batch.interactions_per_evaluation * batch.evaluations;
}

/// A full disk does not end the run: the last checkpoint stays, and the next one may succeed.
void SimulationRun::write_checkpoint_in_time() {
  if (order_.checkpoint.empty()) return;
  const std::chrono::duration<double> since = Clock::now() - last_checkpoint_;
  if (since.count() < order_.checkpoint_every_s) return;
  try {
    write_checkpoint(order_.checkpoint);
    summary_.problem.clear();
  } catch (const std::runtime_error& error) {
    summary_.problem = failure_text(error);
  }
  last_checkpoint_ = Clock::now();
}

void SimulationRun::write_last_checkpoint() {
  try {
    write_checkpoint(order_.checkpoint);
    summary_.problem.clear();
  } catch (const std::runtime_error& error) {
    throw OutputFailure{failure_text(error)};
  }
}

void SimulationRun::write_checkpoint(const std::string& file) {
  RunRecord checkpoint = record_of(simulation_);
  RunOrder order = order_;
  if (log_ && is_stream(log_->file())) {
    order.diagnostics.clear();  // it ends with this run
  } else if (log_) {
    order.diagnostics = log_->file();
    checkpoint.diagnostics = outputs_due_ ? place_before_outputs_ : log_->place();
  }
  checkpoint.id = id_;
  checkpoint.order = order_in_checkpoint(std::move(order), file, folder_);
  checkpoint.snapshot = snapshot_;
  checkpoint.outputs_due = outputs_due_;
  keep_checkpoint(file, checkpoint, simulation_.snapshot_view());
  ++summary_.checkpoints;
}

SimulationRun::Progress SimulationRun::progress() const {
  const Status& now = simulation_.status();
  Progress progress{.step = now.step, .last_step = last_step(), .sim_time = now.sim_time, .left_s = {}};
  if (summary_.steps > 0) {
    progress.left_s =
        summary_.steps_s / static_cast<double>(summary_.steps) * static_cast<double>(last_step() - now.step);
  }
  return progress;
}

SimulationRun::Summary SimulationRun::summary() const {
  Summary summary = summary_;
  if (log_) summary.energy = log_->energy_change();
  return summary;
}

}  // namespace orrery
