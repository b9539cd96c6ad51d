// Times of steps: medians and results.
#include "app/window/step_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "app/lab/statistics.h"
#include "app/ui_state/comparable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

constexpr int longest_period = 64;  // steps that are waited for; what one step in more of them costs hardly counts

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
  last_ms_ = timing.step_ms;
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

/// 0 of none.
double StepStatistics::median_of_last(std::size_t batches) const {
  const std::size_t used = std::min(batches, recent_ms_.size());
  return median({recent_ms_.end() - static_cast<std::ptrdiff_t>(used), recent_ms_.end()});
}

std::vector<StepStatistics::Row>::iterator StepStatistics::find_row(const Trial& trial, bool swept) {
  return std::ranges::find_if(
      rows_, [&](const Row& r) { return r.result.swept == swept && static_cast<const Trial&>(r.result) == trial; });
}

/// A dragged slider adds no row for each value that it passes.
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
  // The median of few batches is a first estimate. After the first whole window, only whole windows count.
  if (row->batches > result_window && (recent_ms_.size() < result_window || !(now_ms < result.step_ms.median))) return;
  result.step_ms.median = now_ms;
  const double evaluations = work.evaluations > 0 ? work.evaluations : 1.0 * timing.evaluations / timing.steps;
  const double evaluated = timing.interactions_per_evaluation * evaluations;  // a tree's differ from step to step
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

/// A row without an error may be of the same accuracy class, so it is not pinned beside another.
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
  view.step_ms_last = measured ? last_ms_ : 0;
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
  // With 7 digits, which distinguish all floats that a user enters.
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

}  // namespace orrery
