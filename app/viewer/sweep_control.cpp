// Sweeps and races beside the picture.
#include "app/viewer/sweep_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <variant>

#include "app/lab/variants.h"
#include "app/recording/output_file.h"
#include "app/recording/sweep_report.h"
#include "app/viewer/next_kernel.h"
#include "app/viewer/step_statistics.h"
#include "app/viewer/viewer.h"
#include "compute/core/error.h"
#include "compute/integrators/integrator.h"

namespace orrery {
void ShownPause::begin(Simulation& shown) {
  resume_ = !shown.status().paused;
  shown.apply(SetPaused{true});
}

void ShownPause::end(Simulation& shown) {
  if (std::exchange(resume_, false)) shown.apply(SetPaused{false});
}

std::vector<Command> shown_physics(const Status& shown) {
  return {SelectLaw{law_info(shown.law.id).id},
          SetTimeStep{shown.time_step},
          SetSoftening{shown.law.softening},
          SetRepulsion{shown.law.repulsion},
          SetDrag{shown.law.drag},
          SetEta{shown.eta},
          SetDigits{shown.digits}};
}
namespace {

/// Keeps the shown kernel's settings, except those that are varied.
void keep_settings(std::vector<Variant>& variants, const std::vector<Axis>& axes, const Status& shown) {
  for (Variant& variant : variants) {
    if (variant.kernel->id != shown.kernel_id) continue;
    for (const auto& [name, value] : shown.settings.values()) {
      if (std::ranges::find(axes, name, &Axis::tunable) == axes.end()) variant.settings.set(name, value);
    }
  }
}

SweepRow row_of(const SweepEntry& entry) {
  SweepRow row;
  row.kernel_id = entry.variant.kernel->id;
  row.settings = entry.variant.settings.to_string();
  row.count = entry.count;
  row.values = entry.variant.settings.values();
  row.problem = entry.problem.text;
  if (!entry.result) return row;
  static_cast<Trial&>(row) = trial_of(entry.result->status);
  row.steps = static_cast<std::int64_t>(entry.result->samples_ms.size()) * entry.result->steps_per_sample;
  row.median_ms = entry.result->step_ms.median;
  row.low_ms = entry.result->step_ms.low;
  row.high_ms = entry.result->step_ms.high;
  row.interactions_per_s = entry.result->interactions_per_s();
  if (entry.result->status.force_probe) row.error = entry.result->status.force_probe->error;
  return row;
}

bool runs_steps(const Command& command) {
  const auto* pause = std::get_if<SetPaused>(&command);
  return (pause && !pause->paused) || std::holds_alternative<StepOnce>(command) ||
         std::holds_alternative<MeasureConserved>(command);
}

bool may_choose_kernel(const Command& command, const Status& shown) {
  if (const auto* select = std::get_if<SelectKernel>(&command)) return select->id == auto_kernel;
  if (std::holds_alternative<UndoReturn>(command)) return true;
  return shown.auto_choice &&
         (std::holds_alternative<LoadScene>(command) || std::holds_alternative<SetAccuracy>(command) ||
          std::holds_alternative<SelectLaw>(command) || std::holds_alternative<Reset>(command));
}

std::vector<SweepRow> rows_of(const Sweep& sweep) {
  std::vector<SweepRow> rows;
  for (std::size_t index = 0; index < sweep.plan().counts.size(); ++index) {
    const std::span<const SweepEntry> entries = sweep.entries_of(index);
    const std::vector<ResultRow> measured = result_rows(entries);
    auto ranked = measured.begin();
    for (const SweepEntry& entry : entries) {
      rows.push_back(row_of(entry));
      if (!entry.result) continue;
      rows.back().rank_first = ranked->rank.first;
      rows.back().rank_last = ranked->rank.last;
      ++ranked;
    }
  }
  return rows;
}

}  // namespace

SweepPlan sweep_plan(const Backends& backends, const StartSweep& asked, const Status& shown) {
  SweepPlan plan{.scene = shown.scene, .counts = asked.counts, .variants = {}};
  plan.scene.count = 0;
  if (!plan.scene.file.empty()) {
    if (std::ranges::any_of(asked.counts, [&](int count) { return count != shown.count; })) {
      throw UsageError("a sweep over numbers of bodies needs a generated scene: the file '" + plan.scene.file +
                       "' has a fixed number");
    }
    plan.counts = {0};
  } else {
    if (plan.counts.empty()) plan.counts = {shown.count};
    for (const int count : plan.counts) (void)allowed_count(find_scene(plan.scene.scene), count);
  }
  const KernelSelection selection = asked.kernels.empty() ? KernelSelection{.kernels = {shown.kernel}}
                                                          : select_kernels(backends.kernels(), asked.kernels);
  std::vector<Axis> axes;
  for (const std::string& name : asked.tunables) axes.push_back({name, {"all"}});
  check_axes(selection, axes);
  plan.variants = expand(backends, selection, axes).variants;
  keep_settings(plan.variants, axes, shown);
  plan.setup = shown_physics(shown);
  plan.setup.insert(plan.setup.begin(), SelectIntegrator{shown.integrator_id});
  return plan;
}

bool needs_machine(const Command& command, const Status& shown) {
  return runs_steps(command) || may_choose_kernel(command, shown);
}

void SweepControl::start(const StartSweep& asked, Simulation& shown, SweepStatus& status) {
  if (sweep_) throw UsageError("a sweep is running; wait for its end or stop it before you start another one");
  const Status& present = shown.status();
  if (present.choosing) throw UsageError("auto is measuring kernels; start the sweep when it has chosen one");
  SweepPlan plan = sweep_plan(backends_, asked, present);
  pause_.begin(shown);
  sweep_.emplace(backends_, std::move(plan));
  held_s_.clear();
  status = {};
  status.total = static_cast<int>(sweep_->total());
  describe(status);
}

/// Some kernels return only when their work is nearly done. No frame is drawn meanwhile.
void SweepControl::tick_sweep() {
  const std::size_t entry = sweep_->entries().size();
  const auto begin = std::chrono::steady_clock::now();
  sweep_->tick();
  const double held_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  held_s_.resize(entry + 1);
  held_s_[entry] = std::max(held_s_[entry], held_s);
}

/// Waits for steps in flight and for a choice of kernel: they would be measured as well.
bool SweepControl::tick(Simulation& shown, SweepStatus& status) {
  if (!sweep_ || !shown.idle() || shown.measuring()) return false;
  tick_sweep();
  try {
    if (!report_ && sweep_->first_status()) {
      report_.emplace(*sweep_, bench_format,
                      ResultNames{.csv = new_output("sweep.csv"), .json = new_output("sweep.json")},
                      Json{{"measured", "in the viewer, beside its drawing"}});
    }
    if (report_) report_->update();
  } catch (const std::exception& error) {
    status.error = failure_text(error);
    sweep_->stop();
  }
  if (sweep_->ended()) {
    end(shown, status);
    return true;
  }
  describe(status);
  return false;
}

bool SweepControl::stop(Simulation& shown, SweepStatus& status) {
  if (!sweep_) return false;
  sweep_->stop();
  end(shown, status);
  return true;
}

void SweepControl::describe(SweepStatus& status) const {
  const std::vector<SweepEntry>& entries = sweep_->entries();
  if (status.rows.size() != entries.size()) status.rows = rows_of(*sweep_);
  for (std::size_t i = 0; i < std::min(status.rows.size(), held_s_.size()); ++i) status.rows[i].held_s = held_s_[i];
  status.active = !sweep_->ended();
  status.done = static_cast<int>(entries.size());
  status.present = sweep_->present();
  status.left_s = sweep_->left_s();
}

void SweepControl::end(Simulation& shown, SweepStatus& status) {
  describe(status);
  const std::vector<SweepEntry>& entries = sweep_->entries();
  if (report_) {
    if (std::ranges::any_of(entries, [](const SweepEntry& entry) { return entry.result.has_value(); })) {
      report_->finish({});
    } else {
      report_->discard();
    }
    status.files = report_->files().paths();
    if (status.error.empty()) status.error = report_->files().error();
  }
  report_.reset();
  sweep_.reset();
  pause_.end(shown);
}
namespace {

using Clock = std::chrono::steady_clock;

/// Part of a frame that may be spent on batches of steps. Many batches take less.
constexpr std::chrono::milliseconds slice{6};
constexpr std::chrono::microseconds nap{100};

RaceRow race_row(const RaceResult& result, const Status& raced) {
  RaceRow row;
  static_cast<Trial&>(row) = trial_of(raced);
  row.kernel_id = result.variant.kernel->id;
  row.kernel_revision = result.variant.kernel->revision;
  row.kernel_version = result.variant.kernel->file_version;
  row.settings = result.variant.settings.to_string();
  row.integrator_id = result.integrator_id;
  row.time_step = result.time_step;
  row.eta = find_integrator(result.integrator_id).block_steps ? std::optional{raced.eta} : std::nullopt;
  row.steps = result.steps;
  row.seconds = result.seconds;
  row.energy_error = result.energy_error;
  row.problem = result.problem.text;
  return row;
}

}  // namespace

RacePlan race_plan(const Backends& backends, const StartRace& asked, const Status& shown) {
  KernelSelection selection;
  if (!asked.kernels.empty()) selection = select_kernels(backends.kernels(), asked.kernels);
  const std::vector<std::string> integrators =
      asked.integrators.empty() ? race_integrators(selection.kernels) : asked.integrators;
  if (asked.kernels.empty()) selection.kernels = race_kernels(backends, shown.kernel, integrators);
  RacePlan plan{.scene = shown.scene,
                .setup = shown_physics(shown),
                .variants = expand(backends, selection, {}).variants,
                .integrators = integrators,
                .time_steps = asked.time_steps,
                .until = asked.until};
  if (!plan.scene.file.empty()) plan.scene.count = 0;  // a file has its own
  for (Variant& variant : plan.variants) {
    if (same_kernel(*variant.kernel, *shown.kernel)) variant.settings = shown.settings;
  }
  return plan;
}

void RaceControl::start(const StartRace& asked, Simulation& shown, RaceStatus& status) {
  if (race_) throw UsageError("a race is running; wait for its end or stop it before you start another one");
  const Status& present = shown.status();
  if (present.choosing) throw UsageError("auto is measuring kernels; start the race when it has chosen one");
  race_.emplace(backends_, race_plan(backends_, asked, present));
  pause_.begin(shown);
  metadata_ = race_metadata(backends_, *race_);
  metadata_["measured"] = "in the viewer, beside its drawing";
  taken_ = 0;
  status = {.until = asked.until};
  describe(status);
}

/// Waits for steps in flight and for a choice of kernel: they would be measured as well.
bool RaceControl::tick(Simulation& shown, RaceStatus& status) {
  if (!race_ || !shown.idle() || shown.measuring()) return false;
  for (const auto begin = Clock::now(); !race_->ended() && Clock::now() - begin < slice;) {
    if (race_->tick()) std::this_thread::sleep_for(nap);
  }
  take_results(status);
  if (race_->ended()) {
    end(shown, status);
    return true;
  }
  describe(status);
  return false;
}

bool RaceControl::stop(Simulation& shown, RaceStatus& status) {
  if (!race_) return false;
  race_->stop();
  end(shown, status);
  return true;
}

void RaceControl::take_results(RaceStatus& status) {
  const std::vector<RaceResult>& results = race_->results();
  if (taken_ == results.size()) return;
  try {
    if (!files_) files_.emplace(ResultNames{new_output("race.csv"), new_output("race.json")}, metadata_, race_columns);
    for (; taken_ < results.size(); ++taken_) files_->add(race_fields(results[taken_]));
  } catch (const std::exception& error) {
    status.error = failure_text(error);
    race_->stop();
  }
  status.rows.clear();
  for (const RaceResult& result : results) status.rows.push_back(race_row(result, race_->status()));
  for (const std::size_t i : race_front(results)) status.rows[i].on_front = true;
  status.best.clear();
  for (const RaceWinner& winner : race_winners(results)) status.best.push_back({winner.limit, winner.result});
}

void RaceControl::describe(RaceStatus& status) const {
  status.active = !race_->ended();
  status.done = race_->done();
  status.present = race_->present();
  status.left_s = race_->left_s();
}

void RaceControl::end(Simulation& shown, RaceStatus& status) {
  describe(status);
  if (files_) {
    files_->finish(race_json(*race_, metadata_));
    status.files = files_->paths();
    if (status.error.empty()) status.error = files_->error();
  }
  files_.reset();
  race_.reset();
  pause_.end(shown);
}

/// Adds new rows of the sweep to the results.
void MeasureFeature::take_swept() {
  for (; swept_taken_ < session_.view.sweep.rows.size(); ++swept_taken_) {
    session_.lane.log().statistics().add_swept(session_.view.sweep.rows[swept_taken_]);
  }
}

void MeasureFeature::carry_out(const StartSweep& c) {
  compare_.require_machine("a sweep");
  sweep_.start(c, session_.lane.simulation(), session_.view.sweep);
  swept_taken_ = 0;
}

void MeasureFeature::carry_out(const StopSweep&) {
  if (!sweep_.stop(session_.lane.simulation(), session_.view.sweep)) return;
  take_swept();
  session_.report_files(session_.view.sweep.files, session_.view.sweep.error);
}

void MeasureFeature::carry_out(const StartRace& c) {
  compare_.require_machine("a race");
  race_.start(c, session_.lane.simulation(), session_.view.race);
}

void MeasureFeature::carry_out(const StopRace&) {
  if (race_.stop(session_.lane.simulation(), session_.view.race))
    session_.report_files(session_.view.race.files, session_.view.race.error);
}

void MeasureFeature::follow() {
  const bool swept = sweep_.tick(session_.lane.simulation(), session_.view.sweep);
  take_swept();
  if (swept) session_.report_files(session_.view.sweep.files, session_.view.sweep.error);
  if (race_.tick(session_.lane.simulation(), session_.view.race)) {
    session_.report_files(session_.view.race.files, session_.view.race.error);
  }
}

}  // namespace orrery
