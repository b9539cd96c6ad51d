#include "app/lab/divergence/paired_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "app/lab/statistics.h"
#include "compute/core/error.h"
#include "compute/core/nominal_step.h"
#include "compute/diagnostics/conserved.h"

namespace orrery {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Runs `action` and adds which run it was to what it fails with.
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

/// Until the next sample.
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
  if (taken_.size() > 1 || plan_.steps <= every_) member.batch_ms.push_back(timing->step_ms);  // the first warms up
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

PairMember PairedRun::member(int which) const {
  const Member& member = members_[static_cast<std::size_t>(which)];
  PairMember result{.status = member.runner.simulation()->status(), .step_ms = none, .interactions_per_s = none};
  if (member.batch_ms.empty()) return result;
  result.step_ms = median(member.batch_ms);
  const double interactions = result.status.interactions_per_step;
  if (interactions > 0) result.interactions_per_s = interactions / (result.step_ms / 1e3);
  return result;
}

}  // namespace orrery
