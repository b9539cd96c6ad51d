#include "app/features/race/measure_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/features/race/race.h"
#include "app/lab/statistics.h"
#include "compute/core/error.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {
namespace {

/// Plans a run whose time step is `time_step`, or slightly shorter so that whole steps reach `until`.
RaceRun planned_run(const Status& raced, const Variant& variant, const std::string& integrator, float time_step,
                    double until) {
  const double steps = steps_to(until, time_step);
  if (!(steps <= static_cast<double>(Race::most_steps))) {
    throw UsageError(fmt::format("{} steps of {} to the time {} are too many; there can be {}", steps, time_step, until,
                                 Race::most_steps));
  }
  RaceRun run{planned(variant, raced.count)};
  run.integrator_id = integrator;
  run.law = raced.law;
  run.time_step = static_cast<float>(until / steps);
  if (find_integrator(integrator).block_steps) run.eta = raced.eta;
  run.digits = raced.digits;
  run.scene = raced.scene;
  run.steps = static_cast<std::int64_t>(steps);
  return run;
}

Variant variant_of(const RaceRun& run) {
  return {run.kernel, Settings{*run.kernel, run.values}};
}

bool all_give_jerks(const std::vector<Variant>& variants) {
  return std::ranges::all_of(variants, [](const Variant& variant) { return variant.kernel->gives_jerks; });
}

/// Returns a simulation with the first of the kernels that can run. If none can, throws the last one's error.
Simulation& first_simulation(VariantRunner& runner, const std::vector<Variant>& variants) {
  for (std::size_t i = 0; i + 1 < variants.size(); ++i) {
    if (!problem_of([&] { runner.simulation(variants[i].kernel); })) break;
  }
  return runner.simulation() ? *runner.simulation() : runner.simulation(variants.back().kernel);
}

}  // namespace

std::string words_for(const RaceRun& result) {
  return fmt::format("{}, {}, dt {:.4g}", words_for(*result.kernel, variant_of(result).settings), result.integrator_id,
                     result.time_step);
}

std::vector<std::string> race_integrators(std::span<const KernelPtr> kernels) {
  const bool any =
      kernels.empty() || std::ranges::any_of(kernels, [](const KernelPtr& kernel) { return kernel->gives_jerks; });
  std::vector<std::string> ids;
  for (const IntegratorInfo* integrator : integrators()) {
    if (any || !integrator->needs_jerks) ids.emplace_back(integrator->id);
  }
  return ids;
}

std::vector<KernelPtr> race_kernels(const Backends& backends, const KernelPtr& usual,
                                    std::span<const std::string> integrators) {
  if (usual->gives_jerks) return {usual};
  const auto needs_jerks = [](const std::string& id) { return find_integrator(id).needs_jerks; };
  std::vector<KernelPtr> kernels;
  if (!std::ranges::all_of(integrators, needs_jerks)) kernels.push_back(usual);
  if (std::ranges::any_of(integrators, needs_jerks)) kernels.push_back(backends.default_kernel(/*jerks=*/true));
  return kernels;
}

std::vector<std::size_t> race_front(const std::vector<RaceRun>& results) {
  std::vector<SpeedError> points;
  for (const RaceRun& result : results) points.push_back({result.energy_error, 1 / result.seconds});
  return pareto_front(points);
}

std::optional<std::size_t> cheapest_within(const std::vector<RaceRun>& results, double limit) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!(results[i].energy_error <= limit) || !std::isfinite(results[i].seconds)) continue;
    if (!best || results[i].seconds < results[*best].seconds) best = i;
  }
  return best;
}

std::vector<RaceWinner> race_winners(const std::vector<RaceRun>& results) {
  std::vector<RaceWinner> winners;
  for (const double limit : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const std::optional<std::size_t> best = cheapest_within(results, limit);
    if (!best) break;
    winners.push_back({limit, *best});
  }
  return winners;
}

Race::Race(const Backends& backends, RacePlan plan)
    : plan_{std::move(plan)}, runner_{backends, plan_.scene, [this](Simulation& simulation) {
                                        for (const Command& command : plan_.setup) simulation.apply(command);
                                      }} {
  require_suitable_kernels();
  Simulation& simulation = first_simulation(runner_, plan_.variants);
  status_ = simulation.status();
  if (plan_.time_steps.empty()) {
    for (const float factor : usual_factors) plan_.time_steps.push_back(factor * status_.time_step);
  }
  for (const Variant& variant : plan_.variants) {
    for (const std::string& integrator : plan_.integrators) {
      if (!race_pairs(*variant.kernel, find_integrator(integrator), all_give_jerks(plan_.variants))) continue;
      for (const float time_step : plan_.time_steps) {
        entries_.push_back(planned_run(status_, variant, integrator, time_step, plan_.until));
      }
    }
  }
}

void Race::require_suitable_kernels() const {
  for (const std::string& id : plan_.integrators) {
    const auto runs_it = [&](const Variant& variant) {
      return race_pairs(*variant.kernel, find_integrator(id), all_give_jerks(plan_.variants));
    };
    if (std::ranges::any_of(plan_.variants, runs_it)) continue;
    throw UsageError(
        fmt::format("the integrator {} needs a kernel that gives jerks, and none of the named ones does", id));
  }
}

double Race::done() const {
  const double part = taken_ == 0 ? 0 : static_cast<double>(taken_) / static_cast<double>(entries_[at_].steps);
  return (static_cast<double>(at_) + part) / static_cast<double>(entries_.size());
}

std::string Race::present() const {
  return at_ < entries_.size() ? words_for(entries_[at_]) : std::string{};
}

std::optional<double> Race::left_s() const {
  const double done = this->done();
  if (!(done > 0)) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() * (1 - done) / done;
}

bool Race::tick() {
  if (ended()) return false;
  Problem problem = problem_of([&] {
    if (!std::exchange(begun_, true)) begin();
    if (!std::exchange(in_flight_, true)) {
      start_batch();
    } else if (const std::optional<StepTiming> timing = runner_.collect()) {
      in_flight_ = false;
      take(*timing);
    }
  });
  if (problem || taken_ == entries_[at_].steps) end(std::move(problem));
  return in_flight_;
}

void Race::begin() {
  const RaceRun& entry = entries_[at_];
  Simulation& simulation = runner_.simulation(entry.kernel);
  simulation.apply(SelectIntegrator{leapfrog.id});  // every kernel supports it; the final integrator follows
  runner_.select(variant_of(entry));
  runner_.restart();
  simulation.apply(SelectIntegrator{entry.integrator_id});
  simulation.apply(SetTimeStep{entry.time_step});
}

/// Returns the number of steps to the next measurement of the energy.
std::int64_t Race::steps_to_sample() const {
  const std::int64_t all = entries_[at_].steps, sample = taken_ * race_samples / all + 1;
  return (sample * all + race_samples - 1) / race_samples - taken_;
}

/// Starts a batch of steps. The first batch of a race has no steps: it measures the energy of the first state. Other
/// batches take about 50 ms, so that a stop needs no long wait.
void Race::start_batch() {
  constexpr double batch_s = 0.05;
  std::int64_t steps = 0;
  samples_ = true;
  if (energy_) {
    const double most = step_s_ > 0 ? std::clamp(batch_s / step_s_, 1.0, static_cast<double>(most_steps)) : 1;
    steps = std::min(steps_to_sample(), static_cast<std::int64_t>(most));
    samples_ = steps == steps_to_sample();
  }
  if (samples_) runner_.simulation()->apply(MeasureConserved{});
  runner_.start(static_cast<int>(steps));
}

void Race::take(const StepTiming& timing) {
  RaceRun& entry = entries_[at_];
  taken_ += timing.steps;
  entry.evaluations += timing.evaluations;
  entry.interactions += timing.interactions_per_evaluation * timing.evaluations;
  entry.seconds += timing.step_ms * timing.steps / 1e3;
  if (timing.steps > 0) step_s_ = timing.step_ms / 1e3;
  if (!samples_) return;
  const auto& measured = runner_.simulation()->status().conserved;
  const double energy =
      measured && measured->step == taken_ ? measured->sums.energy() : std::numeric_limits<double>::quiet_NaN();
  if (!energy_) {
    energy_ = energy;
    return;
  }
  const double error = std::abs((energy - *energy_) / *energy_);
  if (!(error <= entry.energy_error)) entry.energy_error = error;  // NaN stays
}

void Race::end(Problem problem) {
  RaceRun& entry = entries_[at_++];
  entry.problem = std::move(problem);
  if (entry.problem) entry.seconds = entry.energy_error = std::numeric_limits<double>::quiet_NaN();
  results_.push_back(entry);
  taken_ = 0;
  step_s_ = 0;
  begun_ = in_flight_ = false;
}

std::array<std::string, race_columns.size()> race_fields(const RaceRun& result) {
  return {result.kernel_id,
          result.settings,
          result.integrator_id,
          csv_number(result.time_step, 9),
          std::to_string(result.steps),
          std::to_string(result.evaluations),
          csv_number(result.interactions),
          csv_number(result.seconds),
          csv_number(result.energy_error),
          result.problem.text};
}

Json race_json(const RaceRun& result) {
  return {{"kernel", result.kernel_id},
          {"settings", Json(result.values)},
          {"integrator", result.integrator_id},
          {"dt", decimal(result.time_step)},
          {"steps", result.steps},
          {"evaluations", result.evaluations},
          {"interactions", json_number(result.interactions)},
          {"seconds", json_number(result.seconds)},
          {"energy_error", json_number(result.energy_error)},
          {"problem", result.problem.text}};
}

Json race_metadata(const Backends& backends, const Race& race) {
  Json metadata = machine_metadata(backends);
  add_simulation(metadata, race.status());
  for (const char* varied : {"kernel", "settings", "integrator", "dt"}) metadata.erase(varied);
  metadata["until"] = race.until();
  metadata["eta"] = decimal(race.status().eta);
  return metadata;
}

Json race_json(const Race& race, const Json& metadata) {
  Json rows = Json::array();
  for (const RaceRun& result : race.results()) rows.push_back(race_json(result));
  return {{"metadata", metadata}, {"results", rows}, {"stopped", race.stopped()}};
}

}  // namespace orrery
