#include "app/features/race/race_window.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/lab/variants.h"
#include "app/recording/output_file.h"
#include "app/window/session.h"
#include "app/window/step_statistics.h"
#include "app/window/window_feature.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

/// Time in a frame for batches of steps. Many batches may fit.
constexpr std::chrono::milliseconds slice{6};
constexpr std::chrono::microseconds nap{100};

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
  if (!plan.scene.file.empty()) plan.scene.count = 0;  // the file determines the number of bodies
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

/// Continues the race. Waits for steps in flight and a choice of kernel, which would disturb the measurement.
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
  const std::vector<RaceRun>& results = race_->results();
  if (taken_ == results.size()) return;
  try {
    if (!files_) files_.emplace(ResultNames{new_output("race.csv"), new_output("race.json")}, metadata_, race_columns);
    for (; taken_ < results.size(); ++taken_) files_->add(race_fields(results[taken_]));
  } catch (const std::exception& error) {
    status.error = failure_text(error);
    race_->stop();
  }
  status.rows = results;
  for (const std::size_t i : race_front(results)) status.rows[i].on_front = true;
  status.best = race_winners(results);
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

namespace {

/// Races as a part of the window.
class RaceWindow final : public WindowFeature {
 public:
  explicit RaceWindow(Session& session) : session_{session}, control_{session.backends} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, race_commands); }

  void carry_out(const StartRace& c) {
    session_.require_machine("a race");
    control_.start(c, session_.lane.simulation(), status());
    describe();
  }

  void carry_out(const StopRace&) {
    if (control_.stop(session_.lane.simulation(), status())) end();
  }

  void follow() override {
    if (control_.tick(session_.lane.simulation(), status())) return end();
    if (status().active) describe();
    if (session_.panels.lab.tab == "race") {  // only this tab needs the times
      session_.view.evaluation_s =
          evaluation_times(session_.view.kernels, session_.lane.status(), session_.view.results);
    }
  }

  void finish() override { carry_out(StopRace{}); }

  void add_losses(std::vector<std::string>& lines) const override {
    if (status().active) lines.emplace_back("The race ends; what it has measured is kept.");
  }

  void add_left_behind(std::vector<std::string>& things) const override {
    if (status().active) things.emplace_back("the rest of the race");
  }

 private:
  RaceStatus& status() const { return session_.view.features.of<RaceStatus>(); }

  void describe() { session_.view.measurement = {&race_user, status().done, status().left_s}; }

  void end() {
    session_.view.measurement.reset();
    session_.report_files(status().files, status().error);
  }

  Session& session_;
  RaceControl control_;
};

}  // namespace

std::unique_ptr<WindowFeature> make_race(Session& session) {
  return std::make_unique<RaceWindow>(session);
}

}  // namespace orrery
