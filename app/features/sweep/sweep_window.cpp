#include "app/features/sweep/sweep_window.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/measurement.h"
#include "app/lab/variants.h"
#include "app/recording/output_file.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

/// Gives variants of the shown kernel its current settings, except those that are varied.
void keep_settings(std::vector<Variant>& variants, const std::vector<Axis>& axes, const Status& shown) {
  for (Variant& variant : variants) {
    if (variant.kernel->id != shown.kernel_id) continue;
    for (const auto& [name, value] : shown.settings.values()) {
      if (std::ranges::find(axes, name, &Axis::tunable) == axes.end()) variant.settings.set(name, value);
    }
  }
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

/// Continues the sweep, and records how long that takes. Some kernels block until nearly done; no frame is drawn then.
void SweepControl::tick_sweep() {
  const std::size_t entry = sweep_->entries().size();
  const auto begin = std::chrono::steady_clock::now();
  sweep_->tick();
  const double held_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  held_s_.resize(entry + 1);
  held_s_[entry] = std::max(held_s_[entry], held_s);
}

/// Continues the sweep. Waits for steps in flight and a choice of kernel, which would disturb the measurement.
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
  const std::vector<Measurement>& entries = sweep_->entries();
  if (status.rows.size() != entries.size()) status.rows = entries;
  status.held_s = held_s_;
  status.active = !sweep_->ended();
  status.done = static_cast<int>(entries.size());
  status.present = sweep_->present();
  status.left_s = sweep_->left_s();
}

void SweepControl::end(Simulation& shown, SweepStatus& status) {
  describe(status);
  const std::vector<Measurement>& entries = sweep_->entries();
  if (report_) {
    if (std::ranges::any_of(entries, &Measurement::measured)) {
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

/// Sweeps as a part of the window.
class SweepWindow final : public WindowFeature {
 public:
  explicit SweepWindow(Session& session) : session_{session}, control_{session.backends} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, sweep_commands); }

  void carry_out(const StartSweep& c) {
    session_.require_machine("a sweep");
    control_.start(c, session_.lane.simulation(), session_.view.sweep);
    taken_ = 0;
    describe();
  }

  void carry_out(const StopSweep&) {
    if (control_.stop(session_.lane.simulation(), session_.view.sweep)) end();
  }

  void follow() override {
    if (control_.tick(session_.lane.simulation(), session_.view.sweep)) return end();
    if (!session_.view.sweep.active) return;
    take_rows();
    describe();
  }

  void finish() override { carry_out(StopSweep{}); }

  void add_losses(std::vector<std::string>& lines) const override {
    if (session_.view.sweep.active) lines.emplace_back("The sweep ends; what it has measured is kept.");
  }

  void add_left_behind(std::vector<std::string>& things) const override {
    if (session_.view.sweep.active) things.emplace_back("the rest of the sweep");
  }

 private:
  void describe() {
    const SweepStatus& sweep = session_.view.sweep;
    session_.view.measurement = in_progress(sweep_user, sweep.done, sweep.total, sweep.left_s);
  }

  void end() {
    take_rows();
    session_.view.measurement.reset();
    session_.report_files(session_.view.sweep.files, session_.view.sweep.error);
  }

  /// Adds the new rows of the sweep to the results.
  void take_rows() {
    for (; taken_ < session_.view.sweep.rows.size(); ++taken_) {
      session_.lane.log().statistics().add_swept(session_.view.sweep.rows[taken_]);
    }
  }

  Session& session_;
  SweepControl control_;
  std::size_t taken_ = 0;  // number of the sweep's rows that the results have
};

}  // namespace

std::unique_ptr<WindowFeature> make_sweep(Session& session) {
  return std::make_unique<SweepWindow>(session);
}

}  // namespace orrery
