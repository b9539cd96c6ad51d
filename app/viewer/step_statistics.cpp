#include "app/viewer/step_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

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

void StepStatistics::update_result(const Trial& trial, const StepTiming& timing) {
  auto row = std::ranges::find_if(rows_, [&](const Row& r) {
    return Trial{r.result.kernel_id, r.result.settings, r.result.count} == trial;
  });
  if (row == rows_.end()) {
    row =
        rows_.insert(row, {.result = {.kernel_id = trial.kernel_id, .settings = trial.settings, .count = trial.count}});
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

void StepStatistics::describe(ViewStatus& view) const {
  view.step_ms_last = last_ms_;
  view.step_ms_median = median({recent_ms_.begin(), recent_ms_.end()});
  view.measured = static_cast<int>(recent_ms_.size());
  view.step_ms_history.assign(history_.begin(), history_.end());
  view.results = results();
}

void write_results(const std::filesystem::path& file, std::span<const Result> results) {
  std::ofstream out{file};
  out << "kernel,settings,n,median_ms,interactions_per_s,speedup,steps\n";
  for (const Result& r : results) {
    out << fmt::format("{},{},{},{:.6g},{:.6g},{:.4g},{}\n", r.kernel_id, r.settings, r.count, r.median_ms,
                       r.interactions_per_s, r.speedup, r.steps);
  }
  out.close();
  if (!out) throw std::runtime_error{fmt::format("cannot write {}: {}", file.string(), std::strerror(errno))};
}

}  // namespace orrery
