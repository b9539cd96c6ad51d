#include "app/features/runs/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "app/commands/command_text.h"
#include "app/features/runs/simulation_run.h"
#include "app/lab/measurement.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"
#include "compute/snapshots/checkpoint.h"
#include "orrery_version.h"

namespace orrery {
namespace {

constexpr std::string_view magic = "orrery-replay";
constexpr int replay_format = 1;
constexpr std::size_t most_replay_line_bytes = 65'536, most_replay_lines = 200'000;
constexpr std::size_t sum_digits = 8;

constexpr const char* explanation =
    "# 'orrery replay FILE' computes this run again and compares its states. Lines are STEP COMMAND: a change that\n"
    "# follows this step. 'state' is the CRC-32 of all positions, masses and velocities, 'chose' what the kernel "
    "chose.\n";

constexpr std::int64_t last_step = 1'000'000'000'000;  // small enough that the sum over all lines does not overflow

template <class... Kinds>
bool is_one_of(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

/// Returns whether a line after a start may hold this command.
bool is_change(const Command& command) {
  return is_one_of<SelectKernel, SelectIntegrator, SelectLaw, SetTimeStep, SetEta, SetDigits, SetSoftening,
                   SetRepulsion, SetDrag>(command);
}

std::string event_text(const Replay::Event& event) {
  if (const auto* sum = std::get_if<Replay::StateSum>(&event)) return fmt::format("state {:08x}", sum->value);
  if (const auto* chosen = std::get_if<Replay::Chosen>(&event)) return "chose " + chosen->text;
  return command_text(std::get<Command>(event));
}

Replay::StateSum parse_sum(std::string_view text) {
  std::uint32_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, value, 16);
  if (failed != std::errc{} || end != last || text.size() != sum_digits) {
    refuse_value("state", text, fmt::format("{} hexadecimal digits", sum_digits));
  }
  return {value};
}

/// Reads the lines of one replay file, in order.
class ReplayReader {
 public:
  void take(std::string_view line, int number) {
    if (line.size() > most_replay_line_bytes) {
      throw UsageError(fmt::format("a line has at most {} bytes", most_replay_line_bytes));
    }
    if (!is_text(line)) throw UsageError("this is not a replay file: it is not text");
    if (!began_) return begin(line);
    if (ended_) throw UsageError("there is nothing after 'end'");
    if (line == "end") {
      ended_ = true;
    } else if (line.front() >= '0' && line.front() <= '9') {
      take_event(line, number);
    } else {
      take_header(line);
    }
  }

  Replay finish() {
    if (!began_) refuse_foreign();
    if (replay_.lines.empty()) throw UsageError("it has no 'return-to', which starts a run");
    if (!ended_) throw UsageError("it does not end with 'end': a part is missing");
    return std::move(replay_);
  }

 private:
  [[noreturn]] static void refuse_foreign() {
    throw UsageError(fmt::format("this is not a replay file, which begins with '{} {}'", magic, replay_format));
  }

  void begin(std::string_view line) {
    const std::string_view name = take_word(line);
    if (name != magic) refuse_foreign();
    const auto format = parse_integer("the format of a replay file", line, 1, std::numeric_limits<int>::max());
    if (format > replay_format) {
      throw UsageError(
          fmt::format("it has format {}, of a newer program; this one reads format {}", format, replay_format));
    }
    began_ = true;
  }

  void take_header(std::string_view line) {
    std::string_view rest = line;
    const std::string_view name = take_word(rest);
    if (!replay_.lines.empty()) throw UsageError("a line here starts with a step, or is 'end'");
    if (name == "program") {
      replay_.program = rest;
    } else if (name == "processor") {
      replay_.processor = rest;
    } else if (name == "gpu") {
      replay_.gpu = rest;
    } else if (name == "camera") {
      take_camera(rest);
    } else if (name == "appearance") {
      replay_.appearance = *command_if<SetAppearance>(parse_command(line));
    } else {
      throw UsageError(fmt::format(
          "unknown word '{}'; before the first start, a line begins with program, processor, gpu, camera or appearance",
          name));
    }
  }

  void take_camera(std::string_view rest) {
    constexpr Range<float> numbers{-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
    for (float& number : replay_.camera) number = parse_in("camera", take_word(rest), numbers);
    if (!rest.empty()) throw UsageError("'camera' takes 6 numbers");
  }

  void take_event(std::string_view text, int number) {
    if (replay_.lines.size() == most_replay_lines)
      throw UsageError(fmt::format("it has more than {} lines", most_replay_lines));
    const std::int64_t step = parse_integer("the step that starts a line", take_word(text), 0, last_step);
    Replay::Event event = parse_event(text);
    const bool starts = is_start(event);
    if (starts && step != 0) throw UsageError("'return-to' starts from step 0");
    if (!starts && replay_.lines.empty()) throw UsageError("the first step has 'return-to', which starts the run");
    if (!starts && step < replay_.lines.back().step) {
      throw UsageError(fmt::format("step {} comes after step {}", step, replay_.lines.back().step));
    }
    replay_.lines.push_back({step, std::move(event), number});
  }

  static bool is_start(const Replay::Event& event) {
    const auto* command = std::get_if<Command>(&event);
    return command && std::holds_alternative<ReturnToRun>(*command);
  }

  static Replay::Event parse_event(std::string_view text) {
    std::string_view rest = text;
    const std::string_view name = take_word(rest);
    if (name == "state") return parse_sum(rest);
    if (name == "chose") return Replay::Chosen{std::string{rest}};
    const Request request = parse_command(text);
    const auto* command = std::get_if<Command>(&request);
    if (!command || !(is_change(*command) || std::holds_alternative<ReturnToRun>(*command))) {
      throw UsageError(fmt::format("'{}' is not a command of a replay file", name));
    }
    return *command;
  }

  Replay replay_{};
  bool began_ = false, ended_ = false;
};

}  // namespace

std::string replay_text(const Replay& replay) {
  std::string text = fmt::format("{} {}\n{}program {}\nprocessor {}\n", magic, replay_format, explanation,
                                 replay.program, replay.processor);
  if (!replay.gpu.empty()) text += fmt::format("gpu {}\n", replay.gpu);
  text += fmt::format("camera {}\n{}\n", fmt::join(replay.camera, " "), command_text(ViewCommand{replay.appearance}));
  for (const Replay::Line& line : replay.lines) text += fmt::format("{} {}\n", line.step, event_text(line.event));
  return text + "end\n";
}

Replay parse_replay(std::string_view text, const std::string& name) {
  ReplayReader reader;
  int number = 1;
  for (; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.front() == '#') continue;
    at_line(name, number, [&] { reader.take(line, number); });
  }
  return at_line(name, std::max(number - 1, 1), [&] { return reader.finish(); });
}

std::string write_replay(const std::string& file, const Replay& replay, Existing existing) {
  return write_file(file, replay_text(replay), existing);
}

Replay read_replay(const std::string& file) {
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot read the replay {}", failure_text(error)));
  }
  return parse_replay(text, file);
}

namespace {

constexpr std::size_t most_parts = 1000, most_changes = 10'000;
constexpr std::size_t most_sums = 256;          // of one Part
constexpr std::int64_t first_spacing = 32;      // steps between checksums of few bodies
constexpr std::int64_t bodies_per_sum = 16384;  // spacing grows by first_spacing per this many bodies
constexpr double longest_sum_ms = 2;            // limit while steps run in a window

/// Returns the commands that change one setup to the next. A kernel with jerks is selected before an integrator that
/// needs them. Otherwise the kernel is selected after the integrator.
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

/// Returns whether a line of a replay file can describe the scene completely.
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

/// Forgets changes and checksums after `step` in the current part.
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
    part.sums.clear();  // other digits change the checksum
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

/// Returns whether a checksum is due. In a window, a slow checksum must not delay a frame. A step with a change gets
/// none: its line would come before the change, but its state after it.
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

  /// Carries out a line. Returns false if the replay ends with it.
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
    simulation_.apply(Restart{});  // the scene may be the same as before, and then needs a restart
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
  std::string unrepeatable_;      // a kernel since the last start whose results are not repeatable; empty: none
  std::string chosen_elsewhere_;  // how a kernel's choice since the last start differs; empty: it does not
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
