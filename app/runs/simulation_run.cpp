#include "app/runs/simulation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/lab/sampling.h"
#include "compute/core/descriptor.h"
#include "compute/core/failure_text.h"
#include "compute/core/names.h"
#include "compute/core/parse_number.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr double batch_ms = 200;  // a run answers to a stop and shows where it is after such a time
constexpr int most_batch_steps = 1024;
constexpr std::chrono::milliseconds pause{2};
constexpr std::string_view snapshot_prefix = "snapshot_";

std::string snapshot_name(std::int64_t number, std::string_view ending) {
  return fmt::format("{}{:05}{}", snapshot_prefix, number, ending);
}

/// Empty if it is gone.
std::filesystem::path working_folder() {
  std::error_code gone;
  return std::filesystem::current_path(gone);
}

}  // namespace

SimulationRun::SimulationRun(Simulation& simulation, const RunOrder& order, const Outputs& outputs)
    : simulation_{simulation},
      order_{order},
      folder_{working_folder()},
      schedule_{simulation.status(), order, outputs.due},
      outputs_due_{outputs.due} {
  if (order.diagnostics.empty()) return;
  const std::optional<DiagnosticsPlace>& place = outputs.diagnostics;
  if (place && place->bytes > 0) {
    log_.emplace(order.diagnostics, *place);
  } else {
    log_.emplace(order.diagnostics, outputs.metadata, place ? Existing::replace : outputs.existing);
  }
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

void SimulationRun::write_outputs(std::int64_t event) {
  place_before_outputs_ = log_ ? log_->place() : std::nullopt;
  try {
    if (log_) write_row(simulation_.bodies());
    if (!order_.snapshots.empty()) write_numbered(event);
    outputs_due_ = false;
  } catch (const std::runtime_error& error) {
    outputs_due_ = true;
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
  if (event && (step == 0 || outputs_due_)) {
    write_outputs(*event);
  } else if (log_ && !log_->place()) {
    write_row(simulation_.bodies());
  }
}

void SimulationRun::write_numbered(std::int64_t event) {
  const SnapshotFormat* const format = find_named(snapshot_formats(), order_.snapshot_format, "format");
  const std::filesystem::path file =
      std::filesystem::path{order_.snapshots} / snapshot_name(event, format->endings.front());
  write_snapshot(file, simulation_.snapshot_view(), {.existing = Existing::replace, .format = format});
  ++summary_.snapshots;
}

void SimulationRun::remove_later_snapshots() const {
  const SnapshotFormat* const format = find_named(snapshot_formats(), order_.snapshot_format, "format");
  const std::int64_t step = simulation_.status().step;
  const std::int64_t next = step == 0 ? 0 : schedule_.latest_event(step) + 1;
  std::vector<std::filesystem::path> later;
  for (const auto& entry : std::filesystem::directory_iterator{order_.snapshots}) {
    const std::string name = entry.path().filename().string();
    const std::string_view stem = std::string_view{name}.substr(0, name.find('.'));
    const auto number = parsed_number<std::int64_t>(stem.substr(std::min(stem.size(), snapshot_prefix.size())));
    if (!number || *number < next || !std::filesystem::is_regular_file(entry.symlink_status())) continue;
    for (const std::string_view ending : {format->endings.front(), format->companion}) {
      if (!ending.empty() && name == snapshot_name(*number, ending)) later.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& file : later) std::filesystem::remove(file);
}

bool SimulationRun::run(const std::function<bool()>& stop, const std::function<void(const Progress&)>& show) {
  const bool makes_steps = simulation_.status().step < last_step();
  if (makes_steps && !order_.snapshots.empty() && schedule_.has_outputs()) remove_later_snapshots();
  write_first_outputs();
  last_checkpoint_ = Clock::now();
  while (simulation_.status().step < last_step()) {
    if (stop()) return false;
    const std::int64_t end = schedule_.next_event(simulation_.status().step);
    run_batch(end, stop, show);
    const std::int64_t now = simulation_.status().step;
    if (const std::optional<std::int64_t> event = schedule_.event_at(now); event && now == end) write_outputs(*event);
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
  checkpoint.order = order_;
  checkpoint.order->checkpoint = file;
  if (log_ && is_stream(log_->file())) {
    checkpoint.order->diagnostics.clear();  // it ends with this run
  } else if (log_) {
    checkpoint.order->diagnostics = log_->file();
    checkpoint.diagnostics = outputs_due_ ? place_before_outputs_ : log_->place();
  }
  checkpoint.outputs_due = outputs_due_;
  for (std::string* path :
       {&checkpoint.order->snapshots, &checkpoint.order->diagnostics, &checkpoint.order->checkpoint}) {
    if (path->empty()) continue;  // it may continue in another folder
    std::error_code gone;
    const std::filesystem::path full = std::filesystem::absolute(*path, gone);
    *path = (gone ? folder_ / *path : full).string();
  }
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
