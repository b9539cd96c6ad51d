// Times of frames and steps: medians, results, and forecasts.
#include "app/window/step_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "app/lab/statistics.h"
#include "app/ui_state/status.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/threads.h"
#include "compute/integrators/integrator.h"
#include "compute/integrators/time_step_levels.h"

namespace orrery {
namespace {

constexpr int longest_period = 64;  // longest period in steps; the cost of rarer work hardly counts

template <class T>
void push_bounded(std::deque<T>& values, T value, std::size_t limit) {
  values.push_back(value);
  if (values.size() > limit) values.pop_front();
}

}  // namespace

StepWork step_work(const Status& status) {
  const int evaluations = status.block_steps ? 0 : find_integrator(status.integrator_id).evaluations_per_step;
  return {evaluations, status.interactions_per_step, status.settings.period()};
}

void StepStatistics::add(const Trial& trial, const StepWork& work, const StepTiming& timing, bool of_period) {
  if (timing.steps < 1 || !(timing.step_ms > 0) || !std::isfinite(timing.step_ms)) return;
  if (!(trial == trial_)) {
    trial_ = trial;
    recent_ms_.clear();
    begin_period();
  }
  if (work.evaluations > 0 && timing.evaluations > timing.steps * work.evaluations) return;
  push_bounded(history_, static_cast<float>(timing.step_ms), history_length);
  ++pending_.batches;
  pending_.steps += timing.steps;
  pending_.ms += timing.steps * timing.step_ms;
  pending_.of_period &= of_period;
  const int period = std::min(work.period, longest_period);
  if (pending_.steps % period != 0 && pending_.batches < period) return;
  const Pending whole = std::exchange(pending_, {});
  push_bounded(recent_ms_, whole.ms / whole.steps, median_window);
  period_batches_ += whole.of_period;
  update_result(trial, work,
                {.steps = whole.steps,
                 .evaluations = timing.evaluations * whole.steps / timing.steps,
                 .step_ms = whole.ms / whole.steps,
                 .interactions_per_evaluation = timing.interactions_per_evaluation});
}

double StepStatistics::period_median_ms() const {
  return median_of_last(period_batches_);
}

/// Returns the median step time of the last batches, in ms; 0 if there are none.
double StepStatistics::median_of_last(std::size_t batches) const {
  const std::size_t used = std::min(batches, recent_ms_.size());
  return median({recent_ms_.end() - static_cast<std::ptrdiff_t>(used), recent_ms_.end()});
}

std::vector<StepStatistics::Row>::iterator StepStatistics::find_row(const Trial& trial, bool swept) {
  return std::ranges::find_if(
      rows_, [&](const Row& r) { return r.result.swept == swept && static_cast<const Trial&>(r.result) == trial; });
}

/// Adds a row. Replaces the last row if a dragged slider passed through its values.
std::vector<StepStatistics::Row>::iterator StepStatistics::new_row(const Trial& trial) {
  const bool passing = !rows_.empty() && !rows_.back().result.swept && !rows_.back().result.pinned &&
                       rows_.back().batches < result_window;
  if (passing) {
    Trial last = rows_.back().result;
    if (last.law.id == trial.law.id) last.law = trial.law;
    last.time_step = trial.time_step;
    last.eta = trial.eta;
    if (last == trial) rows_.pop_back();
  }
  Row row;
  static_cast<Trial&>(row.result) = trial;
  return rows_.insert(rows_.end(), std::move(row));
}

bool StepStatistics::add_error(const Trial& trial, const ForceError& error) {
  const auto row = find_row(trial);
  if (row == rows_.end()) return false;
  row->result.error = error;
  return true;
}

void StepStatistics::update_result(const Trial& trial, const StepWork& work, const StepTiming& timing) {
  auto row = find_row(trial);
  if (row == rows_.end()) row = new_row(trial);
  Result& result = row->result;
  result.steps += timing.steps;
  row->batches += 1;
  const double now_ms = median_of_last(result_window);
  // Before the first whole window, the median is a preliminary estimate. Afterwards only whole windows count.
  if (row->batches > result_window && (recent_ms_.size() < result_window || !(now_ms < result.step_ms.median))) return;
  result.step_ms.median = now_ms;
  const double evaluations = work.evaluations > 0 ? work.evaluations : 1.0 * timing.evaluations / timing.steps;
  const double evaluated = timing.interactions_per_evaluation * evaluations;  // varies between steps of a tree
  result.interactions_per_s = (evaluated > 0 ? evaluated : work.interactions) / (now_ms * 1e-3);
}

void StepStatistics::add_swept(const Measurement& measured) {
  if (measured.problem || !(measured.step_ms.median > 0)) return;
  auto known = find_row(measured, /*swept=*/true);
  if (known == rows_.end()) known = rows_.insert(rows_.end(), Row{});
  Result& result = known->result;
  static_cast<Measurement&>(result) = measured;
  result.swept = true;
}

const Result& StepStatistics::result(int row) const {
  if (row < 0 || static_cast<std::size_t>(row) >= rows_.size()) {
    throw UsageError(fmt::format("the results have no row {}; they have {}", row + 1, rows_.size()));
  }
  return rows_[static_cast<std::size_t>(row)].result;
}

/// Pins or unpins a row. Pinning unpins comparable rows, and rows that may be comparable because an error is unknown.
void StepStatistics::pin(int row, bool pinned) {
  const Result& meant = result(row);
  const auto may_be_comparable = [&](const Result& other) {
    const bool known = accuracy_class(other.error) && accuracy_class(meant.error);
    return known ? comparable(other, meant) : same_subject(other, meant);
  };
  for (Row& other : rows_) {
    if (&other.result == &meant) {
      other.result.pinned = pinned;
    } else if (pinned && may_be_comparable(other.result)) {
      other.result.pinned = false;
    }
  }
}

std::int64_t StepStatistics::tried_by_hand() const {
  return std::ranges::count_if(rows_, [](const Row& row) { return !row.result.swept; });
}

std::int64_t StepStatistics::unwritten_results() const {
  const std::int64_t tried = tried_by_hand();
  return tried > 1 ? tried - written_ : 0;
}

std::vector<Result> StepStatistics::results() const {
  std::vector<Result> results;
  for (const Row& row : rows_) results.push_back(row.result);
  for (Result& result : results) {
    const auto baseline =
        std::ranges::find_if(results, [&](const Result& r) { return r.pinned && comparable(r, result); });
    if (baseline != results.end()) result.speedup = baseline->step_ms.median / result.step_ms.median;
  }
  return results;
}

void StepStatistics::describe(ViewStatus& view, const Trial& present) const {
  const bool measured = present == trial_;
  view.step_ms_median = measured ? median_of_last(median_window) : 0;
  view.measured = measured ? static_cast<int>(recent_ms_.size()) : 0;
  view.step_ms_history.assign(history_.begin(), history_.end());
  view.results = results();
}

std::string write_results(const std::string& file, const Json& metadata, std::span<const Result> results,
                          Existing existing) {
  static constexpr std::array<std::string_view, 23> columns{
      "kernel",  "settings", "law",   "softening",    "repulsion", "drag",      "integrator",
      "dt",      "eta",      "scene", "seed",         "n",         "median_ms", "interactions_per_s",
      "speedup", "pinned",   "steps", "error_median", "error_p99", "error_max", "by",
      "digits",  "version"};
  std::string text = csv_header(metadata, columns);
  const auto error = [](const Result& r, double ForceError::*number) {
    return r.error ? csv_number((*r.error).*number) : std::string{};
  };
  // Writes 7 digits, which distinguish all floats that a user enters.
  const auto constant = [](float value) { return csv_number(static_cast<double>(value), 7); };
  for (const Result& r : results) {
    const bool repels = r.law.id == LawId::attract_repel, generated = r.scene.file.empty();
    text += csv_line(std::array{r.kernel_id,
                                r.settings,
                                std::string{law_info(r.law.id).id},
                                constant(r.law.softening),
                                repels ? constant(r.law.repulsion) : std::string{},
                                repels ? constant(r.law.drag) : std::string{},
                                r.integrator_id,
                                constant(r.time_step),
                                r.eta ? constant(*r.eta) : std::string{},
                                generated ? r.scene.scene : r.scene.file,
                                generated ? std::to_string(r.scene.seed) : std::string{},
                                std::to_string(r.count),
                                csv_number(r.step_ms.median),
                                csv_number(r.interactions_per_s),
                                csv_number(r.speedup, 4),
                                r.pinned ? std::string{"yes"} : std::string{},
                                std::to_string(r.steps),
                                error(r, &ForceError::median),
                                error(r, &ForceError::p99),
                                error(r, &ForceError::max),
                                std::string{r.swept ? "sweep" : "view"},
                                std::string{word_of(r.digits)},
                                r.kernel_version > 0 ? std::to_string(r.kernel_version) : std::string{}});
  }
  return write_file(file, text, existing);
}

namespace {

constexpr double scalar_pairs_per_s = 4e8, simd_pairs_per_s = 2e9;  // rates of one thread of an older processor

double pairs(int count) {
  return static_cast<double>(count) * count;
}

/// Returns the number of evaluations of all bodies per step. With block steps, evaluations of some bodies add up to
/// that; a kernel without targets evaluates all bodies each time.
double evaluations_of(const std::string& integrator_id, const KernelInfo& kernel, const Status& status) {
  const IntegratorInfo& integrator = find_integrator(integrator_id);
  if (!integrator.block_steps || kernel.takes_targets) return integrator.evaluations_per_step;
  return 1 << (status.levels ? deepest_of(*status.levels) : most_leapfrog_level);
}

/// Returns whether the row's steps have as many evaluations as those of `status`.
bool same_steps(const Result& row, const Status& status) {
  return row.integrator_id == status.integrator_id && (!status.block_steps || row.eta == status.eta);
}

/// Returns a guess of the step time, in s. Kernels that `auto` may choose use the processor's vector units.
double guess_s(const KernelInfo& kernel, const Status& status) {
  if (kernel.is_tree || kernel.backend != Backend::cpu) return 0;
  const double rate = kernel.candidates.empty() ? scalar_pairs_per_s : simd_pairs_per_s;
  const int threads = kernel.tunable("threads") ? usable_threads() : 1;
  return evaluations_of(status.integrator_id, kernel, status) * pairs(status.count) * kernel.pairs_per_interaction /
         (rate * threads);
}

}  // namespace

double forecast_step_s(const KernelInfo& kernel, const Status& status, std::span<const Result> results) {
  double least_s = 0;
  for (const Result& row : results) {
    if (row.kernel_id != kernel.id || row.kernel_revision != kernel.revision || !(row.step_ms.median > 0)) continue;
    const bool same = same_steps(row, status);
    if (!same && find_integrator(row.integrator_id).block_steps) continue;
    const double growth = static_cast<double>(status.count) / row.count;
    const double evaluations =
        same ? 1
             : evaluations_of(status.integrator_id, kernel, status) / evaluations_of(row.integrator_id, kernel, status);
    const double s = row.step_ms.median * 1e-3 * evaluations * (kernel.is_tree ? growth : growth * growth);
    least_s = least_s > 0 ? std::min(least_s, s) : s;
  }
  return least_s > 0 ? least_s : guess_s(kernel, status);
}

std::map<std::string, double, std::less<>> evaluation_times(std::span<const KernelPtr> kernels, const Status& status,
                                                            std::span<const Result> results) {
  Status one_evaluation = status;
  one_evaluation.integrator_id = leapfrog.id;
  one_evaluation.block_steps = false;
  std::map<std::string, double, std::less<>> times;
  for (const KernelPtr& kernel : kernels) {
    const double s = forecast_step_s(*kernel, one_evaluation, results);
    if (s > 0) times.emplace(kernel->id, s);
  }
  return times;
}

NextKernel next_kernel(const Status& status, const ViewStatus& view, std::span<const Result> results,
                       Direction direction) {
  std::vector<const KernelInfo*> stops{nullptr};  // null represents `auto`
  const bool needs_jerks = find_integrator(status.integrator_id).needs_jerks;
  for (const KernelPtr& kernel : view.kernels) {
    const bool suits = kernel->gives_jerks || !needs_jerks;
    if (suits && view.backend(kernel->backend).available) stops.push_back(kernel.get());
  }
  const auto is_present = [&](const KernelInfo* stop) {
    return stop ? !status.auto_choice && status.kernel_id == stop->id : status.auto_choice.has_value();
  };
  const auto size = std::ssize(stops);
  const std::ptrdiff_t by = direction == Direction::forward ? 1 : -1;
  auto present = std::ranges::find_if(stops, is_present) - stops.begin();
  if (present == size) present = by > 0 ? -1 : 0;  // before the first entry, or after the last one
  NextKernel next;
  for (std::ptrdiff_t i = 1; i <= size; ++i) {
    const KernelInfo* const stop = stops[static_cast<std::size_t>(((present + by * i) % size + size) % size)];
    next.id = stop ? stop->id : auto_kernel;
    if (!stop || is_present(stop) || forecast_step_s(*stop, status, results) <= NextKernel::longest_step_s) break;
    next.slow.push_back(next.id);
  }
  return next;
}

std::string NextKernel::notice() const {
  if (slow.empty()) return {};
  return fmt::format("passed over {}: more than {} s per step; the list Kernel has them", joined(slow), longest_step_s);
}

void FrameLog::started(std::int64_t frame, const Status& status) {
  started_.push_back({frame, trial_of(status), step_work(status)});
}

/// Adds the times of a batch. Batches end in order, so earlier ones without times were cancelled.
void FrameLog::add(const StepTiming& timing) {
  while (!started_.empty() && started_.front().frame < timing.tag) started_.pop_front();
  if (started_.empty() || started_.front().frame != timing.tag) return;
  const Started& batch = started_.front();
  statistics_.add(batch.trial, batch.work, timing, batch.of_period);
  started_.pop_front();
  timing_ = timing;
  recorder_.fill(timing);
  times_.map_ms = timing.map_ms;
  times_.unmap_ms = timing.unmap_ms;
}

void FrameLog::begin_period() {
  for (Started& batch : started_) batch.of_period = false;
  statistics_.begin_period();
}

void FrameLog::add_draw(render::GpuTime time) {
  times_.draw_ms = time.ms;
  recorder_.fill_draw(time.tag, time.ms);
}

std::string FrameLog::ended(std::int64_t frame, int steps, const Status& status, const ViewStatus& view,
                            const FrameTimes& times, std::chrono::steady_clock::time_point end) {
  times_.gui_ms = times.gui_ms;
  times_.swap_ms = times.swap_ms;
  times_.frame_ms = times.frame_ms;
  const bool wanted = recorder_.active() && !rows_held_;
  const std::optional<ForceError> error = new_error(status);
  const std::string conserved_problem = conserved_.follow(view.conserved_history, wanted);
  if (!wanted) return {};
  FrameRow row{.frame = frame,
               .time_s = std::chrono::duration<double>(end - begin_).count(),
               .step = status.step,
               .sim_time = status.sim_time,
               .kernel = status.kernel_id,
               .backend = to_string(status.backend),
               .block = status.settings.text_or_none("block"),
               .settings = status.settings.to_string(),
               .n = status.count,
               .steps = steps,
               .gui_ms = times_.gui_ms,
               .frame_ms = times_.frame_ms,
               .interop = to_string(view.interop),
               .error = error};
  if (steps > 0 && timing_.tag == frame && timing_.steps > 0) row.timing = timing_;
  const std::string problem = ended_by(recorder_.append(std::move(row)));
  return problem.empty() ? conserved_problem : problem;
}

/// Returns the force error of a comparison that ended since the last frame; none if there was none.
std::optional<ForceError> FrameLog::new_error(const Status& status) {
  const std::optional<ForceProbe> seen = std::exchange(seen_probe_, status.force_probe);
  if (!seen_probe_ || (seen && seen->step == seen_probe_->step && seen->ms == seen_probe_->ms)) return std::nullopt;
  return seen_probe_->error;
}

std::string FrameLog::start_recording(const std::string& file, const Json& metadata, Existing existing) {
  recording_error_.clear();
  rows_held_ = false;
  std::string name = recorder_.open(file, metadata, existing);
  conserved_.start(name, metadata, existing);
  return name;
}

std::string FrameLog::stop_recording() {
  conserved_.stop();
  return ended_by(recorder_.close());
}

std::string FrameLog::ended_by(std::string error) {
  if (!error.empty()) recording_error_ = error;
  return error;
}

void FrameLog::describe(ViewStatus& view, const Status& present) const {
  view.times = times_;
  statistics_.describe(view, trial_of(present));
  view.recording = {recorder_.active(), recorder_.file(), recorder_.rows(), recording_error_};
}

}  // namespace orrery
