#include "app/panels/race_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "app/lab/race/race_size.h"
#include "app/panels/kit/format.h"
#include "app/text/progress.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

std::vector<KernelPtr> kernels_of(const StartRace& race, const Status& status, const ViewStatus& view) {
  std::vector<KernelPtr> kernels;
  if (race.kernels.empty()) {
    if (status.kernel) kernels.push_back(status.kernel);
    if (view.jerk_kernel && !(status.kernel && status.kernel->gives_jerks)) kernels.push_back(view.jerk_kernel);
  }
  for (const KernelPtr& kernel : view.kernels) {
    if (std::ranges::find(race.kernels, kernel->id) != race.kernels.end()) kernels.push_back(kernel);
  }
  return kernels;
}

std::vector<std::string> integrators_of(const StartRace& race) {
  std::vector<std::string> ids = race.integrators;
  if (!ids.empty()) return ids;
  for (const IntegratorInfo* integrator : integrators()) ids.emplace_back(integrator->id);
  return ids;
}

std::vector<float> time_steps_of(const StartRace& race, const Status& status) {
  std::vector<float> time_steps = race.time_steps;
  if (!time_steps.empty()) return time_steps;
  for (const float factor : usual_factors) time_steps.push_back(factor * status.time_step);
  return time_steps;
}

}  // namespace

RaceForecast forecast_of(const StartRace& race, const Status& status, const ViewStatus& view) {
  const std::vector<KernelPtr> kernels = kernels_of(race, status, view);
  const bool all_give_jerks = std::ranges::all_of(kernels, [](const KernelPtr& kernel) { return kernel->gives_jerks; });
  const std::vector<std::string> integrators = integrators_of(race);
  const std::vector<float> time_steps = time_steps_of(race, status);
  RaceForecast forecast;
  for (const KernelPtr& kernel : kernels) {
    const RaceSize size = race_size(*kernel, all_give_jerks, integrators, time_steps, race.until);
    forecast.runs += size.runs;
    forecast.steps += size.steps;
    const auto known = view.evaluation_s.find(kernel->id);
    if (known != view.evaluation_s.end()) forecast.expected_s += size.evaluations * known->second;
  }
  const double sums = 1 + race_samples * forecast.runs;
  forecast.expected_s += sums * view.conserved_sum_s;
  return forecast;
}

double suggested_end(StartRace race, const Status& status, const ViewStatus& view) {
  constexpr double patience_s = 60;
  const double least = 4 * std::ranges::max(time_steps_of(race, status));
  double decade = 1;
  while (decade < least) decade *= 10;
  double end = decade;
  for (; end > 0; decade /= 10) {
    for (const double digit : {1.0, 0.5, 0.2}) {
      if (!(digit * decade >= least)) return end;
      race.until = end = digit * decade;
      if (forecast_of(race, status, view).expected_s <= patience_s) return end;
    }
  }
  return end;
}

std::string words_for(const RaceForecast& forecast) {
  constexpr double most = 1e15;  // a race refuses far fewer
  const std::string time =
      forecast.expected_s >= 1 ? fmt::format(", roughly {} here", duration_text(forecast.expected_s)) : std::string{};
  return fmt::format("{}, {} in all{}.", counted(forecast.runs, "run"),
                     counted(static_cast<std::int64_t>(std::min(forecast.steps, most)), "step"), time);
}

}  // namespace orrery
