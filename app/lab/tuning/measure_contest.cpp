#include "app/lab/tuning/measure_contest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "compute/sim/simulation.h"

namespace orrery {
namespace {

struct Limits {
  int first_count, most_count;  // bodies of direct sums
  int fewest_for_trees;         // and other approximations; a power of 2: contest_key() takes ranges apart there
  double budget_s;
};
constexpr Limits cpu_limits{.first_count = 2048, .most_count = 8192, .fewest_for_trees = 2048, .budget_s = 0.35};
constexpr Limits cuda_limits{.first_count = 16'384, .most_count = 131'072, .fewest_for_trees = 8192, .budget_s = 0.2};
constexpr int steps_a_contender = 9;  // about as many as a contest makes
constexpr int error_sample = 1024;    // bodies
constexpr double warm_up_s = 0.03;    // until clocks have risen: the first contender is not to pay for it
constexpr float still_dt = 1e-6f;     // bodies hardly move, so that every step is alike

const Limits& limits_of(Backend backend) {
  return backend == Backend::cuda ? cuda_limits : cpu_limits;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Bodies that hardly move, by one variant after the other.
class Track {
 public:
  /// Fresh bodies of a star cluster.
  Track(const Backends& backends, const KernelDemand& demand, const KernelPtr& kernel)
      : simulation_{backends, SceneRequest{.scene = "plummer", .count = demand.count}, kernel} {
    simulation_.apply(SelectLaw{law_info(demand.law).id});
    simulation_.apply(SetTimeStep{still_dt});
    if (!demand.equal_masses) vary_masses();
  }
  /// The very system.
  Track(const Backends& backends, const ForceSystem& system, const KernelPtr& kernel)
      : simulation_{backends, SceneRequest{.scene = "plummer", .count = 1}, kernel} {
    simulation_.apply(SelectLaw{law_info(system.law.id).id});
    simulation_.apply(SetSoftening{system.law.softening});
    simulation_.apply(SetRepulsion{system.law.repulsion});
    simulation_.apply(SetDrag{system.law.drag});
    simulation_.apply(SetTimeStep{still_dt});
    simulation_.set_bodies(system.bodies);
  }

  double step_ms(const Variant& variant, int steps) {
    select(variant);
    if (!std::exchange(warm_, true)) warm_up();
    simulation_.run(1);  // with another kernel a step takes one evaluation more
    return simulation_.run(steps).step_ms;
  }

  /// By one evaluation and no more, which may be long.
  AccuracyTrial try_accuracy(const Variant& variant) {
    select(variant);
    simulation_.apply(SelectIntegrator{"euler"});
    simulation_.apply(ProbeForces{error_sample});
    const double ms = simulation_.run(1).step_ms;
    const std::optional<ForceProbe> probe = simulation_.status().force_probe;
    simulation_.apply(SelectIntegrator{"leapfrog"});
    if (!probe) throw std::runtime_error("its error could not be measured");
    return {.median_error = probe->error.median, .step_ms = ms};
  }

 private:
  void select(const Variant& variant) { simulation_.apply(variant.command()); }

  void vary_masses() {
    Bodies bodies = simulation_.bodies();
    for (std::size_t i = 0; i < bodies.positions.size(); i += 2) bodies.positions[i].w *= 2;
    simulation_.set_bodies(bodies);
  }

  void warm_up() {
    const double end_s = seconds() + warm_up_s;
    for (int steps = 1; seconds() < end_s; steps = std::min(2 * steps, 64)) simulation_.run(steps);
  }

  Simulation simulation_;
  bool warm_ = false;
};

/// A track that is made for the first contender that can run.
template <class Subject>
class TrackWhenNeeded {
 public:
  TrackWhenNeeded(const Backends& backends, const Subject& subject, const std::stop_token& stop)
      : backends_{backends}, subject_{subject}, stop_{stop} {}

  Track& of(const Variant& variant) {
    if (stop_.stop_requested()) throw ChoiceAbandoned{};
    if (!track_) {
      track_.emplace(backends_, subject_, variant.kernel);
      if (stop_.stop_requested()) throw ChoiceAbandoned{};
    }
    return *track_;
  }

 private:
  const Backends& backends_;
  Subject subject_;
  std::stop_token stop_;
  std::optional<Track> track_;
};

/// A picture may be drawn during one short batch, hardly during two.
int pilots_for(const KernelDemand& demand) {
  return demand.beside_drawing ? 2 : 1;
}

KernelDemand with_count(KernelDemand demand, int count) {
  demand.count = count;
  return demand;
}

/// The most bodies of which a step of the first of these direct sums that runs takes no more than its share of the
/// time.
int affordable_count(const Backends& backends, const std::vector<Variant>& direct_sums, const KernelDemand& demand,
                     const Limits& limits, const std::stop_token& stop) {
  const int most = std::min(demand.count, limits.most_count);
  if (most <= limits.first_count) return most;
  const double share_ms = limits.budget_s * 1e3 / (steps_a_contender * static_cast<double>(direct_sums.size()));
  for (const Variant& variant : direct_sums) {
    TrackWhenNeeded track{backends, with_count(demand, limits.first_count), stop};
    std::vector<Contender> pilot{{variant}};
    hold_contest(
        pilot, [&](const Variant& each, int steps) { return track.of(each).step_ms(each, steps); }, seconds,
        /*budget_s=*/0, pilots_for(demand));
    if (!(pilot.front().step_ms > 0)) continue;
    const double count = limits.first_count * std::sqrt(share_ms / pilot.front().step_ms);
    return static_cast<int>(std::clamp<double>(count, limits.first_count, most));
  }
  return limits.first_count;
}

/// Times of direct sums with `measured_count` bodies are scaled to `count`.
void hold_on_tracks(const Backends& backends, Contest& contest, int measured_count, const KernelDemand& demand,
                    const ForceSystem& system, double budget_s, const std::stop_token& stop) {
  TrackWhenNeeded cluster{backends, with_count(demand, measured_count), stop};
  TrackWhenNeeded real{backends, system, stop};
  const double growth = static_cast<double>(contest.count) / measured_count;
  hold_contest(
      contest.contenders,
      [&](const Variant& variant, int steps) {
        if (variant.kernel->is_tree) return real.of(variant).step_ms(variant, steps);
        return cluster.of(variant).step_ms(variant, steps) * growth * growth;
      },
      seconds, budget_s, pilots_for(demand));
  if (measured_count == contest.count) return;
  for (Contender& contender : contest.contenders) {
    if (!contender.variant.kernel->is_tree) contender.forecast_from = measured_count;
  }
}

}  // namespace

int most_measured_bodies(Backend backend) {
  return limits_of(backend).most_count;
}

bool approximations_stand(const KernelDemand& demand, Backend backend) {
  return demand.accuracy > 0 && demand.count >= limits_of(backend).fewest_for_trees;
}

std::vector<Variant> contenders_here(const Backends& backends) {
  for (const Backend backend : {Backend::cuda, Backend::cpu}) {
    if (!backends.status(backend).available) continue;
    std::vector<Variant> found;
    for (const KernelPtr& kernel : backends.kernels().all()) {
      if (kernel->backend != backend) continue;
      for (const char* text : kernel->candidates) {
        Settings settings{*kernel};
        for (const auto& [name, value] : Settings::values_of(text)) settings.set(name, value);
        found.push_back({kernel, settings});
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

Trials measure_trials(const Backends& backends, const std::vector<Variant>& contenders, const KernelDemand& demand,
                      const ForceSystem& system, const std::stop_token& stop) {
  const double begin_s = seconds();
  Trials trials;
  for (const Variant& variant : contenders) trials.contenders.push_back({variant});
  TrackWhenNeeded track{backends, system, stop};
  const bool spare_direct_sums = demand.count > most_measured_bodies(contenders.front().kernel->backend);
  try_accuracy(
      trials.contenders, [&](const Variant& variant) { return track.of(variant).try_accuracy(variant); },
      demand.accuracy, spare_direct_sums);
  trials.took_s = seconds() - begin_s;
  return trials;
}

Contest measure_contest(const Backends& backends, const Trials& trials, const KernelDemand& demand,
                        const ForceSystem& system, const std::stop_token& stop) {
  const Limits& limits = limits_of(trials.contenders.front().variant.kernel->backend);
  std::vector<Variant> direct_sums;
  bool has_trees = false;
  for (const Contender& contender : trials.contenders) {
    has_trees |= contender.variant.kernel->is_tree;
    if (!contender.variant.kernel->is_tree && contender.problem.empty()) direct_sums.push_back(contender.variant);
  }
  const int measured_count = affordable_count(backends, direct_sums, demand, limits, stop);
  Contest contest{.contenders = trials.contenders, .count = has_trees ? demand.count : measured_count};
  hold_on_tracks(backends, contest, measured_count, demand, system, limits.budget_s - trials.took_s, stop);
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  contest.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return contest;
}

}  // namespace orrery
