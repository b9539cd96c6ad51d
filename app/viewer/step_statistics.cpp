#include "app/viewer/step_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "app/recording/csv.h"
#include "app/recording/output_file.h"

namespace orrery {
namespace {

template <class T>
void push_bounded(std::deque<T>& values, T value, std::size_t limit) {
  values.push_back(value);
  if (values.size() > limit) values.pop_front();
}

/// Pairs of bodies a millisecond, whatever share of them a kernel evaluates: what makes results of other counts
/// comparable.
double pairs_per_ms(const Result& r) {
  return static_cast<double>(r.count) * r.count / r.median_ms;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Trial trial_of(const Status& status) {
  return {.kernel_id = status.kernel_id,
          .settings = status.settings.to_string(),
          .law_id = law_info(status.law.id).id,
          .integrator_id = status.integrator_id,
          .count = status.count};
}

void StepStatistics::add(const Trial& trial, const StepTiming& timing) {
  if (timing.steps < 1 || !(timing.step_ms > 0) || !std::isfinite(timing.step_ms)) return;
  if (!(trial == trial_)) {
    trial_ = trial;
    recent_ms_.clear();
  }
  last_ms_ = timing.step_ms;
  push_bounded(recent_ms_, timing.step_ms, median_window);
  push_bounded(history_, static_cast<float>(timing.step_ms), history_length);
  update_result(trial, timing);
}

std::vector<StepStatistics::Row>::iterator StepStatistics::find_row(const Trial& trial) {
  return std::ranges::find_if(rows_, [&](const Row& r) {
    const Result& known = r.result;
    return Trial{known.kernel_id, known.settings, known.law_id, known.integrator_id, known.count} == trial;
  });
}

/// Forces that are not finite, whose error is NaN, are worse than any others.
bool StepStatistics::add_error(const Trial& trial, const ForceError& error) {
  const auto row = find_row(trial);
  if (row == rows_.end()) return false;
  std::optional<ForceError>& worst = row->result.error;
  if (!worst || (!std::isnan(worst->median) && !(error.median <= worst->median))) worst = error;
  return true;
}

void StepStatistics::update_result(const Trial& trial, const StepTiming& timing) {
  auto row = find_row(trial);
  if (row == rows_.end()) {
    row = rows_.insert(row, {.result = {.kernel_id = trial.kernel_id,
                                        .settings = trial.settings,
                                        .law_id = trial.law_id,
                                        .integrator_id = trial.integrator_id,
                                        .count = trial.count}});
  }
  Result& result = row->result;
  result.steps += timing.steps;
  row->batches += 1;
  const std::size_t used = std::min(recent_ms_.size(), result_window);
  const double now_ms = median({recent_ms_.end() - static_cast<std::ptrdiff_t>(used), recent_ms_.end()});
  // A median of few batches is a first estimate; from the first whole window on, only whole windows compete.
  if (row->batches > result_window && (used < result_window || !(now_ms < result.median_ms))) return;
  result.median_ms = now_ms;
  result.interactions_per_s = timing.interactions_per_s * timing.step_ms / now_ms;
  for (Row& r : rows_) r.result.speedup = pairs_per_ms(r.result) / pairs_per_ms(rows_.front().result);
}

std::vector<Result> StepStatistics::results() const {
  std::vector<Result> results;
  for (const Row& row : rows_) results.push_back(row.result);
  return results;
}

void StepStatistics::describe(ViewStatus& view, const Trial& present) const {
  const bool measured = present == trial_;
  view.step_ms_last = measured ? last_ms_ : 0;
  view.step_ms_median = measured ? median({recent_ms_.begin(), recent_ms_.end()}) : 0;
  view.measured = measured ? static_cast<int>(recent_ms_.size()) : 0;
  view.step_ms_history.assign(history_.begin(), history_.end());
  view.results = results();
}

std::string write_results(const std::string& file, std::span<const Result> results) {
  OutputFile out = OutputFile::create(file);
  std::string text =
      "kernel,settings,law,integrator,n,median_ms,interactions_per_s,speedup,steps,error_median,error_p99,error_max\n";
  const auto error = [](const Result& r, double ForceError::*number) {
    return r.error ? csv_number((*r.error).*number) : std::string{};
  };
  for (const Result& r : results) {
    text += csv_line(std::array{r.kernel_id, r.settings, r.law_id, r.integrator_id, std::to_string(r.count),
                                csv_number(r.median_ms), csv_number(r.interactions_per_s), csv_number(r.speedup, 4),
                                std::to_string(r.steps), error(r, &ForceError::median), error(r, &ForceError::p99),
                                error(r, &ForceError::max)});
  }
  if (const std::string error = out.append(text); !error.empty()) throw std::runtime_error{error};
  return out.path();
}

}  // namespace orrery
