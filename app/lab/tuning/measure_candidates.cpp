#include "app/lab/tuning/measure_candidates.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/lab/sampling.h"
#include "app/lab/variant_runner.h"

namespace orrery {
namespace {

constexpr double hopeless = 1.25;  // times the fastest pilot: not measured again
constexpr double tie = 1.02;

/// A batch shorter than 0.5 ms measures the clock rather than the kernel. Of a step of 100 ms, one is enough. A sample
/// is a candidate's batch in one round; the fastest counts, since whatever else runs here only slows down.
Sampling sampling_of(int pilots) {
  return {.warmup_steps = 1,
          .pilots = pilots,
          .pilot_ms = 0.5,
          .slow_ms = 100,
          .sample_ms = 5,
          .most_steps = 200,
          .equal_samples = false,
          .samples = 3};
}

bool is_time(double ms) {
  return ms > 0 && std::isfinite(ms);
}

double fastest(const std::vector<Candidate>& candidates) {
  double best = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    if (candidate.step_ms > 0) best = std::min(best, candidate.step_ms);
  }
  return best;
}

/// A candidate that fails once is out.
void measure_batch(Candidate& candidate, Sampler& sampler, const MeasureSteps& measure) {
  candidate.problem = problem_of([&] {
    const int steps = sampler.next_steps();
    const double ms = measure(candidate.variant, steps);
    if (!is_time(ms)) throw std::runtime_error("its time could not be measured");
    sampler.add(steps, ms);
  });
  candidate.step_ms = candidate.problem ? 0 : sampler.fastest_step_ms();
}

struct Limits {
  int first_count, most_count;  // bodies of direct sums
  int fewest_for_trees;         // and other approximations; a power of 2: a range of tuning_key() begins there
  double budget_s;
};

constexpr Limits cpu_limits{.first_count = 2048, .most_count = 8192, .fewest_for_trees = 2048, .budget_s = 0.35};
constexpr Limits cuda_limits{.first_count = 16'384, .most_count = 131'072, .fewest_for_trees = 8192, .budget_s = 0.2};
constexpr int steps_per_candidate = 9;  // in a tuning run, about
constexpr int error_sample = 1024;      // bodies

const Limits& limits_of(Backend backend) {
  return backend == Backend::cuda ? cuda_limits : cpu_limits;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr float still_dt = 1e-6f;  // bodies hardly move, so that every step is alike

void make_still(Simulation& simulation, const Law& law) {
  simulation.apply(SelectLaw{law_info(law.id).id});
  simulation.apply(SetSoftening{law.softening});
  simulation.apply(SetRepulsion{law.repulsion});
  simulation.apply(SetDrag{law.drag});
  simulation.apply(SetTimeStep{still_dt});
}

void vary_masses(Simulation& simulation) {
  Bodies bodies = simulation.bodies();
  for (std::size_t i = 0; i < bodies.positions.size(); i += 2) bodies.positions[i].w *= 2;
  simulation.set_bodies(bodies);
}

/// Steps `system` itself, which must outlive the runner.
VariantRunner system_runner(const Backends& backends, const ForceSystem& system, const std::stop_token& stop) {
  return {backends,
          {.scene = "plummer", .count = 1},
          [&system](Simulation& simulation) {
            make_still(simulation, system.law);
            simulation.set_bodies(system.bodies);
          },
          stop};
}

/// Steps a star cluster.
VariantRunner cluster_runner(const Backends& backends, const KernelDemand& demand, const std::stop_token& stop) {
  return {backends,
          {.scene = "plummer", .count = demand.count},
          [demand](Simulation& simulation) {
            make_still(simulation, {.id = demand.law, .softening = simulation.status().law.softening});
            if (!demand.equal_masses) vary_masses(simulation);
          },
          stop};
}

/// A picture may be drawn during one short batch, hardly during two.
int pilots_for(const KernelDemand& demand) {
  return demand.beside_drawing ? 2 : 1;
}

KernelDemand with_count(KernelDemand demand, int count) {
  demand.count = count;
  return demand;
}

/// At most `most` of the bodies, evenly spaced in their order.
Bodies thinned(const Bodies& bodies, int most) {
  const auto count = static_cast<std::size_t>(bodies.count());
  const std::size_t stride = (count + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  Bodies some;
  for (std::size_t i = 0; i < count; i += stride) {
    some.positions.push_back(bodies.positions[i]);
    some.velocities.push_back(bodies.velocities[i]);
  }
  return some;
}

/// Runs one trial with a single evaluation, since each may be long.
AccuracyTrial try_variant(VariantRunner& runner, const Variant& variant) {
  runner.select(variant);
  Simulation& simulation = *runner.simulation();
  simulation.apply(SelectIntegrator{"euler"});
  simulation.apply(ProbeForces{error_sample});
  const double ms = runner.run(1).step_ms;
  const std::optional<ForceProbe> probe = simulation.status().force_probe;
  simulation.apply(SelectIntegrator{"leapfrog"});
  if (!probe) throw std::runtime_error("its error could not be measured");
  const ForceError& error = probe->error;
  return {.median_error = error.median, .step_ms = ms, .p99_error = error.p99, .max_error = error.max};
}

/// The time of a step with `limits.first_count` bodies, in ms, by the first of the direct sums that runs; 0 if none
/// does, and if the system has no more bodies than that.
double pilot_ms(const Backends& backends, const std::vector<Variant>& candidates, const KernelDemand& demand,
                const Limits& limits, const std::stop_token& stop) {
  if (demand.count <= limits.first_count) return 0;
  for (const Variant& variant : candidates) {
    if (variant.kernel->is_tree || variant.kernel->faster) continue;
    VariantRunner cluster = cluster_runner(backends, with_count(demand, limits.first_count), stop);
    std::vector<Candidate> pilot{{variant}};
    run_tuning(
        pilot, [&](const Variant& each, int steps) { return cluster.step_ms(each, steps); }, seconds,
        /*budget_s=*/0, pilots_for(demand));
    if (pilot.front().step_ms > 0) return pilot.front().step_ms;
  }
  return 0;
}

/// The most bodies with which a step of a direct sum takes no more than its share of the time.
int affordable_count(double pilot_ms, std::size_t direct_sums, const KernelDemand& demand, const Limits& limits) {
  const int most = std::min(demand.count, limits.most_count);
  if (most <= limits.first_count) return most;
  if (!(pilot_ms > 0)) return limits.first_count;
  const double share_ms = limits.budget_s * 1e3 / (steps_per_candidate * static_cast<double>(direct_sums));
  const double count = limits.first_count * std::sqrt(share_ms / pilot_ms);
  return static_cast<int>(std::clamp<double>(count, limits.first_count, most));
}

/// Times of direct sums with `measured_count` bodies are scaled to the result's count.
void tune(const Backends& backends, TuningResult& result, int measured_count, const KernelDemand& demand,
          const ForceSystem& system, double budget_s, const std::stop_token& stop) {
  VariantRunner cluster = cluster_runner(backends, with_count(demand, measured_count), stop);
  VariantRunner real = system_runner(backends, system, stop);
  const double growth = static_cast<double>(result.count) / measured_count;
  run_tuning(
      result.candidates,
      [&](const Variant& variant, int steps) {
        if (variant.kernel->is_tree) return real.step_ms(variant, steps);
        return cluster.step_ms(variant, steps) * growth * growth;
      },
      seconds, budget_s, pilots_for(demand));
  if (measured_count == result.count) return;
  for (Candidate& candidate : result.candidates) {
    if (!candidate.variant.kernel->is_tree) candidate.forecast_from = measured_count;
  }
}

}  // namespace

std::vector<std::size_t> TuningResult::preference() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].step_ms > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return candidates[i].step_ms; });
  const double enough_ms = tie * fastest(candidates);
  const auto others = std::ranges::find_if(order, [&](std::size_t i) { return !(candidates[i].step_ms <= enough_ms); });
  const auto first = std::min_element(order.begin(), others);
  if (first != others) std::rotate(order.begin(), first, first + 1);
  return order;
}

void run_tuning(std::vector<Candidate>& candidates, const MeasureSteps& measure, const std::function<double()>& now_s,
                double budget_s, int pilots) {
  const double begin_s = now_s();
  Sampling sampling = sampling_of(pilots);
  std::vector<Sampler> samplers;
  for (const Candidate& candidate : candidates) {
    sampling.period = candidate.variant.settings.period();
    samplers.emplace_back(sampling, candidate.step_ms);
  }
  for (int pilot = 1; pilot <= pilots; ++pilot) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      while (!candidates[i].problem && samplers[i].warming_up() && samplers[i].pilots() < pilot) {
        measure_batch(candidates[i], samplers[i], measure);
      }
    }
  }
  const double limit_ms = hopeless * fastest(candidates);
  // Whole rounds, so that all have as many chances.
  for (int round = 0; round < sampling.samples && now_s() - begin_s < budget_s; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool may_win = candidates[i].step_ms > 0 && candidates[i].step_ms <= limit_ms;
      if (may_win) measure_batch(candidates[i], samplers[i], measure);
    }
  }
}

int most_measured_bodies(Backend backend) {
  return limits_of(backend).most_count;
}

bool approximations_are_candidates(const KernelDemand& demand, Backend backend) {
  return demand.accuracy > 0 && demand.count >= limits_of(backend).fewest_for_trees;
}

std::vector<Variant> candidates_here(const Backends& backends) {
  for (const Backend backend : {Backend::cuda, Backend::cpu}) {
    if (!backends.status(backend).available) continue;
    std::vector<Variant> found;
    for (const KernelPtr& kernel : backends.kernels().all()) {
      if (kernel->backend != backend) continue;
      for (const char* text : kernel->candidates) {
        found.push_back({kernel, Settings{*kernel, Settings::values_of(text)}});
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

AccuracyTrials measure_accuracy(const Backends& backends, const std::vector<Variant>& candidates,
                                const KernelDemand& demand, const ForceSystem& system, const std::stop_token& stop) {
  const double begin_s = seconds();
  const Backend backend = candidates.front().kernel->backend;
  const Limits& limits = limits_of(backend);
  AccuracyTrials trials;
  for (const Variant& variant : candidates) trials.candidates.push_back({variant});
  trials.pilot_ms = pilot_ms(backends, candidates, demand, limits, stop);
  const double growth = static_cast<double>(demand.count) / limits.first_count;
  VariantRunner runner = system_runner(backends, system, stop);
  Bodies few;
  const ForceSystem few_system{few, system.law};
  std::optional<VariantRunner> few_runner;
  try_accuracy(trials.candidates,
               [&](const Variant& variant) {
                 const bool all = !variant.kernel->full_fp32 || demand.count <= limits.most_count;
                 if (all) return try_variant(runner, variant);
                 if (!few_runner) {
                   few = thinned(system.bodies, limits.most_count);
                   few_runner.emplace(system_runner(backends, few_system, stop));
                 }
                 return try_variant(*few_runner, variant);
               },
               {.accuracy = approximations_are_candidates(demand, backend) ? demand.accuracy : 0,
                .direct_ms = trials.pilot_ms * growth * growth});
  trials.took_s = seconds() - begin_s;
  return trials;
}

TuningResult measure_candidates(const Backends& backends, const AccuracyTrials& trials, const KernelDemand& demand,
                                const ForceSystem& system, const std::stop_token& stop) {
  const Limits& limits = limits_of(trials.candidates.front().variant.kernel->backend);
  std::size_t direct_sums = 0;
  bool has_trees = false;
  for (const Candidate& candidate : trials.candidates) {
    has_trees |= candidate.variant.kernel->is_tree;
    direct_sums += !candidate.variant.kernel->is_tree && !candidate.problem;
  }
  const int measured_count = affordable_count(trials.pilot_ms, direct_sums, demand, limits);
  TuningResult result{.candidates = trials.candidates, .count = has_trees ? demand.count : measured_count};
  tune(backends, result, measured_count, demand, system, limits.budget_s - trials.took_s, stop);
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  result.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return result;
}

}  // namespace orrery
