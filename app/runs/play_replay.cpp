#include "app/runs/play_replay.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "app/runs/run_history.h"
#include "app/runs/simulation_run.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/snapshots/checkpoint.h"

namespace orrery {
namespace {

const ReturnToRun* start_of(const Replay::Line& line) {
  const auto* command = std::get_if<Command>(&line.event);
  return command ? std::get_if<ReturnToRun>(command) : nullptr;
}

std::int64_t steps_of(const Replay& replay) {
  std::int64_t steps = 0, before = 0;
  for (const Replay::Line& line : replay.lines) {
    if (line.step > before) steps += line.step - before;
    before = line.step;
  }
  return steps;
}

class Player {
 public:
  Player(const Backends& backends, const Replay& replay, const std::function<bool()>& stop,
         const std::function<void(const ReplayProgress&)>& show)
      : backends_{backends},
        replay_{replay},
        stop_{stop},
        show_{show},
        last_step_{steps_of(replay)},
        simulation_{backends, {.scene = "two-body"}, first_kernel()} {}

  /// Returns false if the replay ends with this line.
  bool carry_out(const Replay::Line& line) {
    if (!start_of(line) && !run_to(line)) return false;
    return std::visit([&](const auto& event) { return take(event, line); }, line.event);
  }
  ReplayOutcome outcome() && { return std::move(outcome_); }

 private:
  KernelPtr first_kernel() const {
    const std::string& id = start_of(replay_.lines.front())->run.kernel_id;
    return find_kernel_or_auto(backends_.kernels(), id);
  }

  bool run_to(const Replay::Line& line) {
    const std::int64_t from = simulation_.status().step;
    if (from >= line.step) return true;
    if (simulation_.status().non_finite)
      return differ(line, "a body is not finite here, but the run of the file goes on");
    if (!simulation_.status().kernel->repeatable) unrepeatable_ = simulation_.status().kernel_id;
    const std::int64_t steps_before = outcome_.steps;
    try {
      SimulationRun run{simulation_, {.steps = line.step}, {}};
      outcome_.stopped = !run.run(stop_, [&](const SimulationRun::Progress& now) { show(steps_before, now, from); });
    } catch (const std::runtime_error&) {
      if (!simulation_.status().non_finite) throw;
    }
    outcome_.steps = steps_before + simulation_.status().step - from;
    if (outcome_.stopped) return false;
    const Status& now = simulation_.status();
    if (now.step == line.step) return true;
    return differ(line, fmt::format("after step {}, body {} is not finite", format_count(now.step),
                                    format_count(now.non_finite->body)));
  }

  void show(std::int64_t steps_before, const SimulationRun::Progress& now, std::int64_t from) const {
    const std::int64_t step = steps_before + now.step - from;
    std::optional<double> left_s;
    if (now.left_s && now.last_step > now.step) {
      left_s = *now.left_s / static_cast<double>(now.last_step - now.step) * static_cast<double>(last_step_ - step);
    }
    show_({.step = step, .last_step = last_step_, .left_s = left_s});
  }

  bool take(const Command& command, const Replay::Line& line) {
    simulation_.apply(command);
    if (!start_of(line)) return true;
    simulation_.apply(Restart{});  // the scene may be that of the part before
    ++outcome_.starts;
    outcome_.agreed.reset();
    unrepeatable_.clear();
    chosen_elsewhere_.clear();
    return true;
  }

  bool take(const Replay::Chosen& chosen, const Replay::Line&) {
    const std::string& here = simulation_.status().chosen;
    if (here != chosen.text) {
      chosen_elsewhere_ =
          fmt::format("{} chose '{}' there and chooses '{}' here", simulation_.status().kernel_id, chosen.text, here);
    }
    return true;
  }

  bool take(const Replay::StateSum& sum, const Replay::Line& line) {
    if (checksum(simulation_.bodies()) != sum.value) {
      return differ(line, fmt::format("the state after step {} is another one", format_count(line.step)));
    }
    ++outcome_.states;
    outcome_.agreed = line.step;
    return true;
  }

  bool differ(const Replay::Line& line, std::string what) {
    outcome_.different = {.line = line.line, .step = line.step, .what = std::move(what), .reasons = reasons(line.step)};
    return false;
  }

  std::vector<std::string> reasons(std::int64_t step) const {
    const Status& now = simulation_.status();
    if (step == 0) {
      return {now.scene.file.empty() ? "this program makes other bodies for the scene"
                                     : "the file of bodies is not what it was"};
    }
    std::vector<std::string> reasons;
    if (!unrepeatable_.empty()) {
      reasons.push_back(fmt::format("{} may add up in another order each time", unrepeatable_));
    }
    if (!chosen_elsewhere_.empty()) reasons.push_back(chosen_elsewhere_);
    const auto add_other = [&](const char* what, const std::string& there, const std::string& here) {
      if (there != here) reasons.push_back(fmt::format("{} was '{}' there and is '{}' here", what, there, here));
    };
    add_other("the program", replay_.program, replay_program());
    if (now.backend == Backend::cpu) {
      add_other("the processor", replay_.processor, backends_.status(Backend::cpu).device);
    } else {
      add_other("the GPU", replay_.gpu, backends_.status(Backend::cuda).device);
    }
    if (reasons.empty()) reasons.emplace_back("the file is damaged, or a kernel does not give the same bits each time");
    return reasons;
  }

  const Backends& backends_;
  const Replay& replay_;
  const std::function<bool()>& stop_;
  const std::function<void(const ReplayProgress&)>& show_;
  const std::int64_t last_step_;
  Simulation simulation_;
  ReplayOutcome outcome_;
  std::string unrepeatable_;      // a kernel that ran since the last start; else empty
  std::string chosen_elsewhere_;  // how the choice of a kernel since the last start differs; else empty
};

}  // namespace

ReplayOutcome play_replay(const Backends& backends, const Replay& replay, const std::string& name,
                          const std::function<bool()>& stop, const std::function<void(const ReplayProgress&)>& show) {
  int line = replay.lines.front().line;
  try {
    Player player{backends, replay, stop, show};
    for (const Replay::Line& next : replay.lines) {
      line = next.line;
      if (!player.carry_out(next)) break;
    }
    return std::move(player).outcome();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}:{}: {}", name, line, error.what()));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", name, line, failure_text(error)));
  }
}

}  // namespace orrery
