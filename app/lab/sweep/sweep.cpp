#include "app/lab/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "app/lab/machine_state.h"
#include "app/lab/measure.h"
#include "app/text/format_count.h"
#include "app/text/lines.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr int probe_sample = 4096;  // bodies whose forces are checked

}  // namespace

Sweep::Sweep(const Backends& backends, SweepPlan plan, Machine machine)
    : backends_{backends}, plan_{std::move(plan)}, machine_{std::move(machine)} {
  if (machine_) return;
  machine_ = [&backends](const KernelInfo& kernel) {
    return kernel.backend == Backend::cuda ? machine_state(backends) : Json(nullptr);
  };
}

bool Sweep::tick() {
  if (ended()) return false;
  try {
    if (!run_) {
      begin();
    } else if (!collect()) {
      look_at_machine();
      return true;
    }
    if (static_cast<int>(run_->repeats_ms.size()) < plan_.procedure.repeats) {
      start_batch();
      return true;
    }
    finish();
  } catch (const UsageError& error) {
    fail(error.what(), /*refused=*/true);
  } catch (const std::bad_alloc&) {
    fail("not enough memory", /*refused=*/false);
  } catch (const std::exception& error) {
    fail(error.what(), /*refused=*/false);
  }
  return false;
}

void Sweep::stop() {
  if (ended()) return;
  if (run_ && !run_->repeats_ms.empty()) finish();
  stopped_ = entries_.size() < total();
  run_.reset();
  simulation_.reset();
}

/// Makes the simulation with the variant's kernel where there is none: no other one has to be able to run here.
void Sweep::begin() {
  const Variant& present = variant(entries_.size());
  if (!simulation_) {
    SceneRequest request = plan_.scene;
    request.count = plan_.counts[entries_.size() / plan_.variants.size()];
    auto fresh = std::make_unique<Simulation>(backends_, request, present.kernel);
    for (const Command& command : plan_.setup) fresh->apply(command);
    simulation_ = std::move(fresh);
    if (!first_) first_ = simulation_->status();
  }
  simulation_->apply(present.command());
  simulation_->apply(Restart{});
  const Procedure& procedure = plan_.procedure;
  run_ = Run{.warmup_left = procedure.fresh_steps > 0 ? 0 : procedure.warmup_steps,
             .steps_a_repeat = procedure.fresh_steps,
             .machine_before = machine_(*present.kernel)};
  if (procedure.fresh_steps == 0) simulation_->apply(ProbeForces{probe_sample});
}

void Sweep::start_batch() {
  if (run_->warmup_left > 0) {
    run_->asked = run_->pilot_ms > 0 ? std::min(run_->warmup_left, steps_for_a_repeat(run_->pilot_ms)) : 1;
  } else {
    if (plan_.procedure.fresh_steps > 0 && !run_->repeats_ms.empty()) simulation_->apply(Restart{});
    run_->asked = run_->steps_a_repeat;
  }
  simulation_->start(run_->asked, 0);
}

/// Returns false while the batch is under way. Throws what it failed with.
bool Sweep::collect() {
  const std::vector<StepTiming> ended = simulation_->collect();
  if (!simulation_->idle()) return false;
  const Status status = simulation_->status();
  if (status.fault) {
    throw std::runtime_error(
        fmt::format("body {} is not finite after step {}", status.fault->body, status.fault->step));
  }
  if (!status.last_error.empty()) throw std::runtime_error(status.last_error);
  if (ended.empty() || ended.back().steps < run_->asked) throw std::runtime_error("a step was abandoned");
  take(ended.back());
  return true;
}

/// Once a variant, in the second half of its measurements, while steps are under way: between batches the clocks fall.
void Sweep::look_at_machine() {
  const bool measuring = run_->warmup_left == 0;
  if (!measuring || !run_->machine_during.is_null()) return;
  if (static_cast<int>(run_->repeats_ms.size()) < plan_.procedure.repeats / 2) return;
  run_->machine_during = machine_(*variant(entries_.size()).kernel);
}

void Sweep::take(const StepTiming& timing) {
  const Variant& present = variant(entries_.size());
  if (run_->warmup_left == 0) {
    run_->repeats_ms.push_back(timing.step_ms);
    return;
  }
  run_->warmup_left -= timing.steps;
  run_->pilot_ms = timing.step_ms;
  if (run_->warmup_left > 0) return;
  run_->steps_a_repeat = steps_for_a_repeat(run_->pilot_ms);
  forecast_.learn(*present.kernel, simulation_->status().count, run_->pilot_ms / 1e3);
}

void Sweep::finish() {
  VariantResult result{.status = simulation_->status(),
                       .steps_a_repeat = run_->steps_a_repeat,
                       .repeats_ms = std::move(run_->repeats_ms),
                       .machine_before = std::move(run_->machine_before),
                       .machine_during = std::move(run_->machine_during),
                       .machine_after = machine_(*variant(entries_.size()).kernel)};
  result.step_ms = summarize(result.repeats_ms);
  const Variant& present = variant(entries_.size());
  forecast_.learn(*present.kernel, result.status.count, result.step_ms.median / 1e3);
  add({.variant = present, .count = result.status.count, .result = std::move(result)});
}

void Sweep::fail(std::string problem, bool refused) {
  add({.variant = variant(entries_.size()),
       .count = count(entries_.size()),
       .result = {},
       .problem = one_line(std::move(problem)),
       .refused = refused});
  if (!refused) simulation_.reset();  // what is left of it after a failure is not to be relied on
}

void Sweep::add(SweepEntry entry) {
  entries_.push_back(std::move(entry));
  run_.reset();
  if (entries_.size() % plan_.variants.size() == 0) simulation_.reset();
}

int Sweep::count(std::size_t entry) const {
  const bool present = entry / plan_.variants.size() == entries_.size() / plan_.variants.size();
  return present && simulation_ ? simulation_->status().count : plan_.counts[entry / plan_.variants.size()];
}

std::span<const SweepEntry> Sweep::entries_of(std::size_t index) const {
  const std::size_t size = plan_.variants.size(), begin = std::min(index * size, entries_.size());
  return std::span{entries_}.subspan(begin, std::min(size, entries_.size() - begin));
}

std::string Sweep::present() const {
  if (ended()) return {};
  const Variant& present = variant(entries_.size());
  const std::string settings = present.settings.to_string();
  const int bodies = count(entries_.size());
  return fmt::format("{}{}{}{}", present.kernel->id, settings.empty() ? "" : " ", settings,
                     bodies > 0 ? fmt::format(", {} bodies", format_count(bodies)) : "");
}

double Sweep::expected_s(std::size_t entry) const {
  const double step_s = forecast_.seconds(*variant(entry).kernel, count(entry));
  const Procedure& procedure = plan_.procedure;
  if (procedure.fresh_steps > 0) return step_s * procedure.fresh_steps * procedure.repeats;
  const double least_s = 0.02 * procedure.repeats;  // a repeat lasts at least 20 ms
  return std::max(least_s, step_s * (procedure.warmup_steps + procedure.repeats));
}

double Sweep::left_s() const {
  if (ended()) return 0;
  const double measured = run_ ? static_cast<double>(run_->repeats_ms.size()) : 0;
  double left = expected_s(entries_.size()) * (1 - measured / plan_.procedure.repeats);
  for (std::size_t entry = entries_.size() + 1; entry < total(); ++entry) left += expected_s(entry);
  return left;
}

}  // namespace orrery
