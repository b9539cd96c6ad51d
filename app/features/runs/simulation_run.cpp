#include "app/features/runs/simulation_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/lab/sampling.h"
#include "app/recording/recorder.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/diagnostics/structure.h"
#include "compute/scenes/natural_scales.h"
#include "compute/snapshots/checkpoint.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr double most_steps = 1e15;  // exact in a double
constexpr double events_without_every = 100;

/// Returns the first step whose time is at least `sim_time`.
std::int64_t step_at(double sim_time, const Status& now) {
  const double left = (sim_time - now.sim_time) / nominal_step(now.time_step);
  const double steps = std::ceil(left - rounding_of_steps(left + static_cast<double>(now.step)));
  if (!(steps < most_steps)) {
    throw UsageError(
        fmt::format("until t = {:g} there are {:g} steps of {:g}: too many", sim_time, steps, now.time_step));
  }
  return now.step + static_cast<std::int64_t>(std::max(steps, 0.0));
}

/// Returns whether the order's end is the current step, not an earlier one.
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

namespace {

constexpr auto columns = conserved_columns_and("radius_10", "radius_50", "radius_90", "state");
constexpr std::array<double, 3> shares{0.1, 0.5, 0.9};
constexpr std::size_t most_header_bytes = 65'536;

std::string first_bytes(const std::string& file, const DiagnosticsPlace& place, const std::string& id) {
  require_rows(file, place, id);
  std::ifstream in{file, std::ios::binary};
  std::string text(static_cast<std::size_t>(place.bytes), '\0');
  if (!in.read(text.data(), place.bytes)) throw std::runtime_error(fmt::format("'{}': cannot be read", file));
  return text;
}

/// Returns the first field of the first row, which follows the metadata and the column names.
std::int64_t first_step_of(std::string_view text) {
  std::string_view line = take_line(text);
  while (line.starts_with('#')) line = take_line(text);
  const std::string_view row = take_line(text);
  return parsed_number<std::int64_t>(row.substr(0, row.find(','))).value_or(0);
}

}  // namespace

DiagnosticsLog::DiagnosticsLog(const std::string& file, const Json& metadata, Existing existing)
    : begin_{csv_header(metadata, columns)}, file_{OutputFile::create(file, existing)} {}

DiagnosticsLog::DiagnosticsLog(const std::string& file, const DiagnosticsPlace& place, const std::string& id)
    : begin_{first_bytes(file, place, id)},
      file_{OutputFile::create(file, Existing::replace_here)},
      first_energy_{place.first_energy},
      first_step_{first_step_of(begin_)} {}

void DiagnosticsLog::add(const ConservedProbe& probe, const Bodies& bodies) {
  const double energy = probe.sums.energy(), first = first_energy_.value_or(energy);
  const double drift = (energy - first) / std::abs(first);
  std::vector<std::string> fields = conserved_cells(probe, first_energy_ ? drift : 0);
  for (const double radius : lagrangian_radii(bodies, shares)) fields.push_back(csv_number(radius));
  fields.push_back(fmt::format("{:08x}", checksum(bodies)));
  if (const std::string error = file_.append(begin_ + csv_line(fields)); !error.empty()) {
    throw std::runtime_error(error);
  }
  if (first_energy_) {
    energy_change_ = {.relative = drift, .since_step = first_step_};
  } else {
    first_energy_ = first, first_step_ = probe.step;
  }
  begin_.clear();
}

std::optional<DiagnosticsPlace> DiagnosticsLog::place() const {
  if (!first_energy_) return std::nullopt;
  return DiagnosticsPlace{file_.size() + static_cast<std::int64_t>(begin_.size()), *first_energy_};
}

void require_rows(const std::string& file, const DiagnosticsPlace& place, const std::string& id) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(file, error);
  if (place.bytes == 0 && !std::filesystem::exists(status)) return;  // its first row is still due
  if (!std::filesystem::is_regular_file(status) ||
      std::filesystem::file_size(file, error) < static_cast<std::uintmax_t>(place.bytes) || error) {
    throw std::runtime_error(fmt::format(
        "'{}': the rows that were written before the checkpoint are not there any more; name another --diagnostics",
        file));
  }
  if (belongs_to_run(file, id)) return;
  throw std::runtime_error(
      fmt::format("'{}' is not the file of diagnostics that this run wrote; name another --diagnostics", file));
}

bool belongs_to_run(const std::string& file, const std::string& id) {
  std::ifstream in{file, std::ios::binary};
  std::string text(most_header_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::string_view rest{text}, metadata = take_line(rest);
  const std::string_view names = take_line(rest);
  if (!metadata.starts_with("# ") || names != fmt::format("{}", fmt::join(columns, ","))) return false;
  metadata.remove_prefix(2);
  std::string cause;
  const std::optional<Json> json = checked_json(metadata, cause);
  if (!json || !json->is_object() || json->value("program", Json{}) != "orrery") return false;
  return json->value("run", Json{}) == (id.empty() ? Json{} : Json(id));
}

namespace {

constexpr double batch_ms = 200;  // ms after which a run reacts to a stop and shows its progress
constexpr int most_batch_steps = 1024;
constexpr std::chrono::milliseconds pause{2};

/// Returns the working folder; empty if it is gone.
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
  if (!measured()) {  // not measured with the last batch
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
    outputs_due_ = row || !log_;  // false if the file had this row before
    const bool began_file = log_ && log_->place() && !place_before_outputs_;
    if (began_file) place_before_outputs_ = DiagnosticsPlace{};
    throw OutputFailure{failure_text(error)};
  }
}

/// Writes the first outputs. A continued run writes only outputs that are due, or a row in a new diagnostics file.
void SimulationRun::write_first_outputs() {
  const std::int64_t step = simulation_.status().step;
  const std::optional<std::int64_t> event = schedule_.event_at(step);
  if (!event) outputs_due_ = false;  // this order has no outputs at this step
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
  if (schedule_.latest_event(simulation_.status().step) != event) return;  // a later run replaces this last state
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

/// Runs steps towards `end` for about batch_ms. Ends earlier if `stop` returns true.
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

/// Writes a checkpoint if one is due. If that fails, for example on a full disk, the run continues, and may try again.
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
    order.diagnostics.clear();  // a stream ends with this run
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

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "snapshot_";
constexpr std::uint64_t marked_bytes = 65536;  // bytes in the checksum, at each end of a file

std::string name_of(std::int64_t number, std::string_view ending) {
  return fmt::format("{}{:05}{}", prefix, number, ending);
}

/// Returns the number of the snapshot to which a file of this name belongs; none if it belongs to none of this format.
std::optional<std::int64_t> number_of(const std::string& name, const SnapshotFormat& format) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view stem = std::string_view{name}.substr(0, name.find('.'));
  const auto number = parsed_number<std::int64_t>(stem.substr(prefix.size()));
  if (!number) return std::nullopt;
  for (const std::string_view ending : {format.endings.front(), format.companion}) {
    if (!ending.empty() && name == name_of(*number, ending)) return number;
  }
  return std::nullopt;
}

SnapshotMark mark_of_file(const fs::path& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  SnapshotMark mark{.name = file.filename().string()};
  if (in) mark.bytes = static_cast<std::uint64_t>(in.tellg());
  std::vector<char> block(std::min(mark.bytes, marked_bytes));
  for (const std::uint64_t at : {std::uint64_t{0}, mark.bytes - block.size()}) {
    in.seekg(static_cast<std::streamoff>(at));
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (!in) throw std::runtime_error(fmt::format("'{}': cannot be read", file.string()));
    mark.checksum = next_checksum(mark.checksum, reinterpret_cast<const std::byte*>(block.data()), block.size());
  }
  return mark;
}

/// Returns the bodies' shares of the total mass, in ascending order.
std::vector<double> mass_shares(const Bodies& bodies) {
  std::vector<double> shares;
  double total = 0;
  for (const Vec4& position : bodies.positions) {
    shares.push_back(position.w);
    total += position.w;
  }
  for (double& share : shares) share /= total;
  std::ranges::sort(shares);
  return shares;
}

}  // namespace

SnapshotSeries::SnapshotSeries(fs::path folder, const std::string& format)
    : folder_{std::move(folder)}, format_{find_named(snapshot_formats(), format, "format")} {}

fs::path SnapshotSeries::file(std::int64_t number) const {
  return folder_ / name_of(number, format_->endings.front());
}

bool SnapshotSeries::is_snapshot(const fs::path& file) const {
  return takes(file.filename().string()) && file.filename().string().ends_with(format_->endings.front());
}

bool SnapshotSeries::takes(const std::string& name) const {
  return number_of(name, *format_).has_value();
}

std::vector<fs::path> SnapshotSeries::files_from(std::int64_t number) const {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at{folder_, error}; !error && at != fs::directory_iterator{}; at.increment(error)) {
    const std::optional<std::int64_t> found = number_of(at->path().filename().string(), *format_);
    std::error_code gone;
    if (found && *found >= number && fs::is_regular_file(at->symlink_status(gone))) files.push_back(at->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw std::runtime_error(fmt::format("the folder '{}' cannot be read: {}", folder_.string(), error.message()));
  }
  return files;
}

void SnapshotSeries::remove_from(std::int64_t number) const {
  for (const fs::path& file : files_from(number)) {
    std::error_code error;
    fs::remove(file, error);
    if (error) throw std::runtime_error(fmt::format("'{}': not removed: {}", file.string(), error.message()));
  }
}

SnapshotMark SnapshotSeries::mark_of(std::int64_t number) const {
  return mark_of_file(file(number));
}

bool SnapshotSeries::is_of_bodies(const fs::path& file, const Bodies& bodies) {
  constexpr double tolerance = 1e-5;  // relative; masses may have been rounded in other units
  try {
    const std::vector<double> found = mass_shares(read_snapshot(file).bodies), wanted = mass_shares(bodies);
    return std::ranges::equal(found, wanted, [](double a, double b) { return std::abs(a - b) <= tolerance * b; });
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool SnapshotSeries::has(const SnapshotMark& mark) const {
  const fs::path file = folder_ / mark.name;
  std::error_code missing;
  if (mark.name.find('/') != mark.name.npos || !fs::is_regular_file(fs::symlink_status(file, missing))) return false;
  try {
    return mark_of_file(file) == mark;
  } catch (const std::runtime_error&) {
    return false;  // an unreadable file is not known to be this run's
  }
}

}  // namespace orrery
