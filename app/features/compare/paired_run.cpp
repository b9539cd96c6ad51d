// Runs two variants from the same bodies alternately, and compares them.
#include "app/features/compare/paired_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/features/compare/compare.h"
#include "app/lab/statistics.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/core/vec.h"
#include "compute/diagnostics/conserved.h"
#include "compute/sim/backends.h"

namespace orrery {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view separators = ", \t";
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

/// Runs `action`. If it throws, adds the name of the run to the error.
template <class Action>
auto of_member(int which, const PairPlan& plan, Action action) {
  const auto named = [&](const std::exception& error) {
    return fmt::format("{} ({}): {}", which == 0 ? "A" : "B", plan.variants[static_cast<std::size_t>(which)].name(),
                       error.what());
  };
  try {
    return action();
  } catch (const UsageError& error) {
    throw UsageError(named(error));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(named(error));
  }
}

}  // namespace

LockStep lock_step_of(float time_step_a, float time_step_b) {
  constexpr double rounding = 1e-6, most = 1000;
  const double ratio = double{std::max(time_step_a, time_step_b)} / double{std::min(time_step_a, time_step_b)};
  const double whole = std::round(ratio);
  if (!(std::abs(ratio - whole) <= rounding * whole) || whole > most) {
    throw UsageError(
        fmt::format("the time steps {} and {} do not stay together; one must be a whole multiple of the other, up to "
                    "{:g}",
                    time_step_a, time_step_b, most));
  }
  const int steps = static_cast<int>(whole);
  return time_step_a > time_step_b ? LockStep{1, steps} : LockStep{steps, 1};
}

void RunVariant::apply_to(Simulation& simulation) const {
  if (integrator_id) simulation.apply(SelectIntegrator{leapfrog.id});  // suits every kernel; integrator_id follows
  simulation.apply(variant.command());
  if (integrator_id) simulation.apply(SelectIntegrator{*integrator_id});
  if (time_step) simulation.apply(SetTimeStep{*time_step});
  if (!(nudge > 0)) return;
  Bodies bodies = simulation.bodies();
  nudge_bodies(bodies, nudge);
  simulation.set_bodies(bodies);
}

void nudge_bodies(Bodies& bodies, double length) {
  if (!(length > 0)) return;
  std::mt19937_64 random{1};
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };  // in [0, 1)
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const double z = 2 * share() - 1, around = 2 * std::numbers::pi * share(), level = std::sqrt(1 - z * z);
    Vec4 none;
    Vec4& low = bodies.digits() == Digits::compensated ? bodies.positions_low[i] : none;
    const Vec3d p = joined<double>(bodies.positions[i], low);
    split(Vec3d{p.x + length * level * std::cos(around), p.y + length * level * std::sin(around), p.z + length * z},
          bodies.positions[i], low);
  }
}

std::string RunVariant::name() const {
  std::string name = variant.kernel->id;
  if (const std::string changes = variant.settings.changes(); !changes.empty()) name += ' ' + changes;
  if (integrator_id) name += ' ' + *integrator_id;
  if (time_step) name += fmt::format(" dt={}", *time_step);
  if (nudge > 0) name += fmt::format(" nudge={}", nudge);
  return name;
}

RunVariant parse_run_variant(const KernelCatalog& kernels, std::string_view what, std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) {
    throw UsageError(fmt::format("{} needs a kernel, such as '{} cpu-simd'", what, what));
  }
  const KernelPtr kernel = find_kernel_or_auto(kernels, words.front());
  RunVariant run{.variant = {kernel, kernel ? Settings{*kernel} : Settings{}}};
  std::set<std::string> seen;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Axis axis = parse_axis(what, words[i]);
    const std::string& value = axis.values.front();
    if (!seen.insert(axis.tunable).second) throw UsageError(fmt::format("{} sets {} twice", what, axis.tunable));
    if (axis.tunable == "integrator") {
      check_integrator(value);
      run.integrator_id = value;
    } else if (axis.tunable == "dt") {
      run.time_step = parse_in(fmt::format("{} dt", what), value, SetTimeStep::range);
    } else if (axis.tunable == "nudge") {
      run.nudge = parse_in(fmt::format("{} nudge", what), value, CompareWith::nudges);
    } else if (!kernel) {
      throw UsageError(fmt::format("{} cannot be set with {} auto, which chooses settings as well; name a kernel: {}",
                                   axis.tunable, what, joined_ids(kernels.all())));
    } else {
      run.variant.settings.set(axis.tunable, value);
    }
  }
  return run;
}

PairedRun::PairedRun(const Backends& backends, PairPlan plan) : plan_{std::move(plan)} {
  const auto prepare = [this](std::size_t which) {
    return [this, which](Simulation& simulation) {
      for (const Command& command : plan_.setup) simulation.apply(command);
      plan_.variants[which].apply_to(simulation);
    };
  };
  members_.reserve(2);
  for (const int which : {0, 1}) {
    const auto at = static_cast<std::size_t>(which);
    members_.push_back({.runner = VariantRunner{backends, plan_.scene, prepare(at)}});
    of_member(which, plan_, [&] { members_.back().runner.simulation(plan_.variants[at].variant.kernel); });
  }
  Simulation &a = *members_[0].runner.simulation(), &b = *members_[1].runner.simulation();
  const LockStep lock_step = lock_step_of(a.status().time_step, b.status().time_step);
  slow_ = lock_step.a > lock_step.b ? 1 : 0;
  members_[0].steps_per_unit = lock_step.a;
  members_[1].steps_per_unit = lock_step.b;
  time_step_ = nominal_step(std::max(a.status().time_step, b.status().time_step));
  every_ = plan_.every.value_or(std::max<std::int64_t>(1, plan_.steps / samples));
  const Bodies first = a.bodies();
  const Bodies second = b.bodies();
  const bool nudged = plan_.variants[0].nudge > 0 || plan_.variants[1].nudge > 0;
  if (!nudged && first != second)
    throw std::runtime_error("A and B do not start from the same bodies: the file has changed");
  size_ = median_radius(first.positions);
  digits_ = first.digits();
  DivergenceSample sample{.distances = summary_of(distances_of(first, second))};
  if (measures_energy()) {
    members_[0].energy = conserved(first, a.status().law).energy();
    members_[1].energy = nudged ? conserved(second, b.status().law).energy() : *members_[0].energy;
    sample.energy_error = {0, 0};
  }
  taken_.push_back(sample);
}

/// Returns the number of units (see Member::steps_per_unit) until the next sample.
std::int64_t PairedRun::next_units() const {
  return std::min(every_, plan_.steps - taken_.back().steps[static_cast<std::size_t>(slow_)]);
}

double PairedRun::done() const {
  return static_cast<double>(taken_.back().steps[static_cast<std::size_t>(slow_)]) / static_cast<double>(plan_.steps);
}

bool PairedRun::is_selected(std::size_t index) const {
  const std::int64_t all = (plan_.steps + every_ - 1) / every_, most = std::min(all, energy_samples);
  const auto part = [&](std::size_t i) { return static_cast<std::int64_t>(i) * most / all; };
  return index == 0 || part(index) != part(index - 1);
}

bool PairedRun::tick() {
  if (ended()) return false;
  if (running_ < 0) {
    start(0);
    return true;
  }
  Member& member = members_[static_cast<std::size_t>(running_)];
  const auto timing = of_member(running_, plan_, [&] { return member.runner.collect(); });
  if (!timing) return true;
  if (taken_.size() > 1 || plan_.steps <= every_) member.batch_ms.push_back(timing->step_ms);  // the first: warm-up
  if (running_ == 0) {
    start(1);
    return true;
  }
  running_ = -1;
  take_sample();
  return false;
}

void PairedRun::start(int which) {
  running_ = which;
  Member& member = members_[static_cast<std::size_t>(which)];
  of_member(which, plan_, [&] {
    if (measures_energy() && is_selected(taken_.size())) member.runner.simulation()->apply(MeasureConserved{});
    member.runner.start(static_cast<int>(next_units() * member.steps_per_unit));
  });
}

std::optional<double> PairedRun::energy_error(Member& member) const {
  const auto& conserved = member.runner.simulation()->status().conserved;
  if (!member.energy || !conserved || conserved->step != member.runner.simulation()->status().step) return std::nullopt;
  return std::abs((conserved->sums.energy() - *member.energy) / *member.energy);
}

void PairedRun::take_sample() {
  const std::int64_t units = taken_.back().steps[static_cast<std::size_t>(slow_)] + next_units();
  Simulation &a = *members_[0].runner.simulation(), &b = *members_[1].runner.simulation();
  DivergenceSample sample{.steps = {units * members_[0].steps_per_unit, units * members_[1].steps_per_unit},
                          .time = static_cast<double>(units) * time_step_};
  sample.distances = summary_of(distances_of(a.bodies(), b.bodies()));
  if (const auto body = sample.distances.non_finite) {
    throw std::runtime_error(
        fmt::format("the distance of body {} in A and B is not finite at t = {:.4g}", *body, sample.time));
  }
  for (const std::size_t which : {0, 1}) sample.energy_error[which] = energy_error(members_[which]);
  taken_.push_back(sample);
}

const Status& PairedRun::status(int which) const {
  return members_[static_cast<std::size_t>(which)].runner.simulation()->status();
}

Measurement PairedRun::member(int which) const {
  return measurement_of(status(which), members_[static_cast<std::size_t>(which)].batch_ms);
}

}  // namespace orrery
