// Measures variants for several numbers of bodies.
#include "app/lab/sweep/sweep.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "app/lab/force_promise.h"
#include "app/lab/metadata.h"

namespace orrery {

Sweep::Sweep(const Backends& backends, SweepPlan plan, Machine machine)
    : backends_{backends}, plan_{std::move(plan)}, machine_{std::move(machine)} {
  if (machine_) return;
  machine_ = [&backends](const KernelInfo& kernel) {
    return kernel.backend == Backend::cuda ? machine_state(backends) : Json(nullptr);
  };
}

bool Sweep::tick() {
  if (ended()) return false;
  bool in_flight = false;
  if (Problem problem = problem_of([&] { in_flight = advance(); })) fail(std::move(problem));
  return in_flight;
}

/// Does the work of tick(). Throws the exception with which the variant fails.
bool Sweep::advance() {
  if (!run_) {
    begin();
  } else if (const std::optional<StepTiming> batch = runner_->collect()) {
    if (!run_->compares) add_batch(*batch);
  } else {
    look_at_machine();
    return true;
  }
  if (!run_->sampler.complete()) {
    start_batch();
  } else if (compares_at_end() && !run_->compares) {
    compare();
  } else {
    return finish(), false;
  }
  return true;
}

void Sweep::stop() {
  if (ended()) return;
  if (run_ && !run_->sampler.samples_ms().empty()) finish();
  stopped_ = entries_.size() < total();
  run_.reset();
  runner_.reset();
}

void Sweep::begin() {
  const Variant& present = variant(entries_.size());
  if (!runner_) {
    SceneRequest request = plan_.scene;
    request.count = plan_.counts[entries_.size() / plan_.variants.size()];
    runner_.emplace(backends_, request, [setup = plan_.setup](Simulation& simulation) {
      for (const Command& command : setup) simulation.apply(command);
    });
  }
  Simulation& simulation = runner_->simulation(present.kernel);
  if (!first_) first_ = simulation.status();
  runner_->select(present);
  runner_->restart();
  Sampling sampling = plan_.sampling;
  sampling.period = present.settings.period();
  run_ = Run{.sampler = Sampler{sampling}, .machine_before = machine_(*present.kernel)};
  if (plan_.sampling.fresh_steps == 0 && !compares_at_end()) simulation.apply(ProbeForces{ForceSample::usual_size});
}

/// Returns whether the forces are compared after the samples. With a tree on several GPUs, the first evaluation
/// exchanges all bodies; later ones only exchange what tree walks need. The errors should belong to those timed
/// evaluations.
bool Sweep::compares_at_end() const {
  const KernelInfo& kernel = *variant(entries_.size()).kernel;
  const bool several = !backends_.team_words().empty() || (backends_.ranks() > 1 && kernel.backend == Backend::cuda);
  return plan_.sampling.fresh_steps == 0 && several && kernel.is_tree;
}

void Sweep::compare() {
  run_->compares = true;
  runner_->simulation()->apply(ProbeForces{ForceSample::usual_size});
  runner_->start(1);
}

void Sweep::start_batch() {
  if (plan_.sampling.fresh_steps > 0 && !run_->sampler.samples_ms().empty()) runner_->restart();
  runner_->start(run_->sampler.next_steps());
}

/// Reads the machine's state once per variant, in the second half of its samples. A batch must be in flight, because
/// the clocks drop between batches.
void Sweep::look_at_machine() {
  if (run_->sampler.warming_up() || !run_->machine_during.is_null()) return;
  if (static_cast<int>(run_->sampler.samples_ms().size()) < plan_.sampling.samples / 2) return;
  run_->machine_during = machine_(*variant(entries_.size()).kernel);
}

void Sweep::add_batch(const StepTiming& timing) {
  Sampler& sampler = run_->sampler;
  const bool warmed_up = !sampler.warming_up();
  sampler.add(timing.steps, timing.step_ms);
  if (warmed_up || sampler.warming_up()) return;
  forecast_.learn(*variant(entries_.size()).kernel, count(entries_.size()), sampler.pilot_step_ms() / 1e3);
}

void Sweep::finish() {
  const Sampler& sampler = run_->sampler;
  Measurement entry = measurement_of(runner_->simulation()->status(), sampler.samples_ms());
  entry.steps_per_sample = sampler.steps_per_sample();
  entry.steps = std::ssize(entry.samples_ms) * entry.steps_per_sample;
  entry.machine = std::make_shared<const MachineStates>(MachineStates{.before = std::move(run_->machine_before),
                                                                      .during = std::move(run_->machine_during),
                                                                      .after = machine_(*entry.kernel)});
  forecast_.learn(*entry.kernel, entry.count, entry.step_ms.median / 1e3);
  add(std::move(entry));
}

void Sweep::fail(Problem problem) {
  Measurement entry = planned(entries_.size());
  entry.problem = std::move(problem);
  add(std::move(entry));
}

void Sweep::add(Measurement entry) {
  const std::size_t size = plan_.variants.size();
  entries_.push_back(std::move(entry));
  rank(std::span{entries_}.subspan((entries_.size() - 1) / size * size));
  run_.reset();
  if (entries_.size() % size == 0) runner_.reset();
}

int Sweep::count(std::size_t entry) const {
  const bool present = entry / plan_.variants.size() == entries_.size() / plan_.variants.size();
  const Simulation* simulation = present && runner_ ? runner_->simulation() : nullptr;
  return simulation ? simulation->status().count : plan_.counts[entry / plan_.variants.size()];
}

std::span<const Measurement> Sweep::entries_of(std::size_t index) const {
  const std::size_t size = plan_.variants.size(), begin = std::min(index * size, entries_.size());
  return std::span{entries_}.subspan(begin, std::min(size, entries_.size() - begin));
}

std::vector<std::vector<Measurement>> Sweep::measured() const {
  std::vector<std::vector<Measurement>> counts;
  for (std::size_t index = 0; index < plan_.counts.size(); ++index) {
    std::vector<Measurement> rows;
    std::ranges::copy_if(entries_of(index), std::back_inserter(rows), &Measurement::measured);
    if (!rows.empty()) counts.push_back(std::move(rows));
  }
  return counts;
}

std::string Sweep::present() const {
  if (ended()) return {};
  return name_of(planned(entries_.size()));
}

double Sweep::expected_s(std::size_t entry) const {
  const double step_s = forecast_.seconds(*variant(entry).kernel, count(entry));
  const Sampling& sampling = plan_.sampling;
  if (sampling.fresh_steps > 0) return step_s * sampling.fresh_steps * sampling.samples;
  const double least_s = sampling.sample_ms / 1e3 * sampling.samples;
  const int period = variant(entry).settings.period();
  return std::max(least_s, step_s * (sampling.warmup_steps + sampling.samples * period));
}

double Sweep::left_s() const {
  if (ended()) return 0;
  const double measured = run_ ? static_cast<double>(run_->sampler.samples_ms().size()) : 0;
  double left = expected_s(entries_.size()) * (1 - measured / plan_.sampling.samples);
  for (std::size_t entry = entries_.size() + 1; entry < total(); ++entry) left += expected_s(entry);
  return left;
}

}  // namespace orrery
