#include "app/runs/run_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <utility>
#include <variant>

#include "app/ui_state/trial.h"
#include "compute/core/error.h"
#include "compute/integrators/integrator.h"
#include "compute/snapshots/checkpoint.h"
#include "orrery_version.h"

namespace orrery {
namespace {

constexpr std::size_t most_parts = 1000, most_changes = 10'000;
constexpr std::size_t most_sums = 256;          // of one part
constexpr std::int64_t first_spacing = 32;      // of few bodies
constexpr std::int64_t bodies_per_sum = 16384;  // more of them are summed up less often
constexpr double longest_sum_ms = 2;            // while steps run in a window

/// The changes from one setup to the next, as commands. A kernel that gives jerks comes before an integrator that needs
/// them, and stays until another integrator was selected.
std::vector<Command> commands_between(const RunSetup& from, const RunSetup& to) {
  std::vector<Command> commands;
  const Physics &a = from.physics, &b = to.physics;
  const auto add_kernel = [&] {
    if (from.kernel_id == to.kernel_id && from.settings == to.settings) return;
    commands.emplace_back(SelectKernel{to.kernel_id, to.settings});
  };
  const bool kernel_first = find_integrator(b.integrator_id).needs_jerks;
  if (kernel_first) add_kernel();
  if (a.integrator_id != b.integrator_id) commands.emplace_back(SelectIntegrator{b.integrator_id});
  if (a.time_step != b.time_step) commands.emplace_back(SetTimeStep{b.time_step});
  if (a.eta != b.eta) commands.emplace_back(SetEta{b.eta});
  if (a.digits != b.digits) commands.emplace_back(SetDigits{b.digits});
  if (a.law.id != b.law.id) commands.emplace_back(SelectLaw{law_info(b.law.id).id});
  if (a.law.softening != b.law.softening) commands.emplace_back(SetSoftening{b.law.softening});
  if (a.law.repulsion != b.law.repulsion) commands.emplace_back(SetRepulsion{b.law.repulsion});
  if (a.law.drag != b.law.drag) commands.emplace_back(SetDrag{b.law.drag});
  if (!kernel_first) add_kernel();
  return commands;
}

/// Whether a line of a file can name it.
bool is_named_in_full(const SceneRequest& scene) {
  return scene.hints == SnapshotHints{};
}

}  // namespace

RunHistory::Setup RunHistory::setup_of(const Status& status) {
  RunSetup run = run_of(trial_of(status));
  if (!run.scene.file.empty()) run.scene.file = std::filesystem::absolute(run.scene.file).string();
  return {std::move(run), status.chosen};
}

void RunHistory::begin(Simulation& simulation) {
  start(simulation.status());
  follow(simulation);
}

void RunHistory::start(const Status& status) {
  Part part{.first = setup_of(status), .spacing = first_spacing * (1 + status.count / bodies_per_sum)};
  if (!is_named_in_full(part.first.run.scene)) {
    part.lost = "a replay cannot hold --units, --columns or --state: convert the file first (orrery convert)";
  }
  parts_.push_back(std::move(part));
  forget_oldest();
}

void RunHistory::forget_oldest() {
  std::size_t changes = 0;
  for (const Part& part : parts_) changes += part.changes.size();
  while (parts_.size() > 1 && (parts_.size() > most_parts || changes > most_changes)) {
    changes -= parts_.front().changes.size();
    parts_.erase(parts_.begin());
  }
}

void RunHistory::lose(Simulation& simulation, std::string why) {
  start(simulation.status());
  parts_.back().lost = std::move(why);
}

void RunHistory::took(const Command& command, Simulation& simulation) {
  const Status& now = simulation.status();
  if (std::holds_alternative<Restart>(command) || std::holds_alternative<Reset>(command) ||
      std::holds_alternative<LoadScene>(command)) {
    start(now);
  } else if (std::holds_alternative<ReturnToRun>(command)) {
    before_return_ = parts_;
    if (now.step == 0) start(now);
  } else if (std::holds_alternative<UndoReturn>(command)) {
    if (before_return_) parts_ = *std::exchange(before_return_, {});
    go_back(now.step);
  } else if (std::holds_alternative<RestoreCheckpoint>(command)) {
    go_back(now.step);
  }
  note_change(now);
  if (now.step == 0) follow(simulation);
}

/// To the state after `step` of the present part.
void RunHistory::go_back(std::int64_t step) {
  Part& part = parts_.back();
  const auto is_later = [step](const auto& entry) { return entry.step > step; };
  std::erase_if(part.changes, is_later);
  std::erase_if(part.sums, is_later);
}

void RunHistory::note_change(const Status& status) {
  Part& part = parts_.back();
  Setup now = setup_of(status);
  if (commands_between(part.last().run, now.run).empty()) return;
  if (status.step == 0) {
    part.first = std::move(now);
    part.sums.clear();  // other digits are another state
  } else if (!part.changes.empty() && part.changes.back().step == status.step) {
    part.changes.back().setup = std::move(now);
  } else if (part.changes.size() < most_changes) {
    part.changes.push_back({status.step, std::move(now)});
    forget_oldest();
  } else {
    part.lost = "the run has changed too often since its start for a replay: restart it";
  }
}

void RunHistory::follow(Simulation& simulation) {
  const Status& now = simulation.status();
  const RunSetup& last = parts_.back().last().run;
  if (now.kernel_id != last.kernel_id || now.settings.values() != last.settings) note_change(now);
  if (wants_sum(simulation)) add_sum(simulation);
}

/// In a window, a frame does not wait for a checksum that takes long. At a change, a sum would be that of the state
/// after it, but its line comes before.
bool RunHistory::wants_sum(const Simulation& simulation) const {
  const Part& part = parts_.back();
  const Status& now = simulation.status();
  if (!part.lost.empty() || now.non_finite) return false;
  if (!part.changes.empty() && part.changes.back().step == now.step) return false;
  if (part.sums.empty()) return now.step == 0;
  if (now.step < part.sums.back().step + part.spacing) return false;
  return simulation.idle() && (lockstep_ || now.paused || sum_ms_ < longest_sum_ms);
}

void RunHistory::add_sum(Simulation& simulation) {
  const auto begin = std::chrono::steady_clock::now();
  const Bodies bodies = simulation.bodies();
  std::vector<Sum>& sums = parts_.back().sums;
  sums.push_back({simulation.status().step, {checksum(bodies)}});
  sum_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (sums.size() < most_sums) return;
  std::size_t place = 0;
  std::erase_if(sums, [&place](const Sum&) { return place++ % 2 == 1; });
  parts_.back().spacing *= 2;
}

void RunHistory::add_lines(const Part& part, std::vector<Replay::Line>& lines) {
  const auto add = [&lines](std::int64_t step, Replay::Event event) { lines.push_back({step, std::move(event)}); };
  add(0, Command{ReturnToRun{part.first.run}});
  if (!part.first.chosen.empty()) add(0, Replay::Chosen{part.first.chosen});
  auto sum = part.sums.begin();
  const auto add_sums_until = [&](std::int64_t step) {
    for (; sum != part.sums.end() && sum->step <= step; ++sum) add(sum->step, sum->state);
  };
  const Setup* before = &part.first;
  for (const auto& [step, setup] : part.changes) {
    add_sums_until(step);
    for (Command& command : commands_between(before->run, setup.run)) add(step, std::move(command));
    if (setup.chosen != before->chosen) add(step, Replay::Chosen{setup.chosen});
    before = &setup;
  }
  add_sums_until(std::numeric_limits<std::int64_t>::max());
}

std::vector<Replay::Line> RunHistory::lines(Simulation& simulation) {
  if (const std::string& lost = parts_.back().lost; !lost.empty()) throw UsageError(lost);
  const Replay::StateSum present{checksum(simulation.bodies())};
  const std::int64_t step = simulation.status().step;
  std::vector<Replay::Line> lines;
  const auto lost = std::ranges::find_if(parts_.rbegin(), parts_.rend(), [](const Part& p) { return !p.lost.empty(); });
  for (auto part = lost.base(); part != parts_.end(); ++part) add_lines(*part, lines);
  const bool known = !parts_.back().sums.empty() && parts_.back().sums.back().step == step;
  if (!known) lines.push_back({step, present});
  return lines;
}

std::string replay_program() {
  return fmt::format("{} ({})", version, git_id);
}

Replay replay_of(RunHistory& history, Simulation& simulation, const Backends& backends) {
  return {.program = replay_program(),
          .processor = backends.status(Backend::cpu).device,
          .gpu = backends.status(Backend::cuda).device,
          .camera = {},
          .appearance = {},
          .lines = history.lines(simulation)};
}

}  // namespace orrery
