#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "app/cli/option_groups.h"
#include "app/cli/verb.h"
#include "app/features/runs/simulation_run.h"
#include "app/lab/metadata.h"
#include "app/lab/tuning/auto_chooser.h"
#include "app/lab/variants.h"
#include "app/recording/run_checkpoint.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "app/text/table.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

/// `orrery run`. The exit status is 0 at the end of the run. If the run was stopped, it is that of the signal.
struct RunVerb final : Verb, SystemOptions {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  Settings::Values settings;  ///< settings of the default kernel
  std::string resume;         ///< checkpoint to continue, which contains bodies, kernel and physics; empty: a new run
  RunOrder order;             ///< without the values of the next two members
  std::optional<std::string> snapshot_format;
  std::optional<double> checkpoint_every_s;
  Existing existing = Existing::keep;
  bool progress = false;
};

namespace fs = std::filesystem;

void require_an_end(const RunVerb& run) {
  if (run.order.steps && run.order.until)
    throw UsageError("--steps and --until both end the run: leave out one of them");
  if (run.resume.empty() && !run.order.steps && !run.order.until) {
    throw UsageError("'orrery run' needs its end: --steps K or --until T");
  }
}

void refuse_what_nothing_uses(const RunVerb& run) {
  if (!run.resume.empty()) return;  // the checkpoint may have an output that uses the option
  const RunOrder& order = run.order;
  if (run.snapshot_format && order.snapshots.empty()) {
    throw UsageError("--format is that of --snapshots, which is not given: add --snapshots FOLDER");
  }
  if (!order.snapshots.empty() && !order.every) {
    throw UsageError("--snapshots needs the simulated time between them: add --every T");
  }
  if (order.every && order.snapshots.empty() && order.diagnostics.empty()) {
    throw UsageError(
        "--every is the simulated time between snapshots or rows of diagnostics: add --snapshots or --diagnostics");
  }
  if (run.checkpoint_every_s && order.checkpoint.empty()) {
    throw UsageError("--every-s is the time between checkpoints: add --checkpoint FILE");
  }
}

/// Returns the stored order with the changes of this command line.
RunOrder changed(RunOrder order, const RunVerb& options) {
  const RunOrder& asked = options.order;
  if (asked.steps || asked.until) order.steps = asked.steps, order.until = asked.until;
  if (asked.every) order.every = asked.every;
  if (!asked.snapshots.empty()) order.snapshots = asked.snapshots;
  if (!asked.diagnostics.empty()) order.diagnostics = asked.diagnostics;
  if (!asked.checkpoint.empty()) order.checkpoint = asked.checkpoint;
  if (options.snapshot_format) order.snapshot_format = *options.snapshot_format;
  if (options.checkpoint_every_s) order.checkpoint_every_s = *options.checkpoint_every_s;
  return order;
}

bool same_place(const std::string& a, const std::string& b) {
  std::error_code a_error, b_error;
  const fs::path first = fs::weakly_canonical(a, a_error), second = fs::weakly_canonical(b, b_error);
  return !a_error && !b_error && first == second;
}

/// Returns whether the file exists, or may exist.
bool exists(const std::string& file) {
  std::error_code unknown;
  return fs::exists(file, unknown) || unknown;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path{"."};
}

/// Throws if two outputs, or an output and an input, are one file under any names. Call before anything is written.
void refuse_outputs_that_meet(const RunVerb& options, const RunOrder& order) {
  RunFiles files;
  const auto add = [](std::vector<NamedFile>& to, const char* where, const std::string& path) {
    if (!path.empty()) to.push_back({where, path});
  };
  add(files.inputs, "FILE", options.scene.request.file);
  if (!same_place(options.resume, order.checkpoint)) add(files.inputs, "--resume", options.resume);
  add(files.outputs, "--snapshots", order.snapshots);
  add(files.outputs, "--checkpoint", order.checkpoint);
  if (!order.checkpoint.empty()) {
    add(files.outputs, "the checkpoint before the last", previous_name(order.checkpoint));
  }
  add(files.outputs, "--diagnostics", order.diagnostics);
  refuse_files_that_meet(files);
  if (order.snapshots.empty()) return;
  const SnapshotSeries series{order.snapshots, order.snapshot_format};
  for (const std::vector<NamedFile>* const group : {&files.inputs, &files.outputs}) {
    for (const auto& [where, path] : *group) {
      const fs::path file = followed(path);
      if (!series.takes(file.filename().string()) || !same_place(folder_of(file).string(), order.snapshots)) continue;
      throw UsageError(
          fmt::format("{} names '{}', which --snapshots may write: name another folder or file", where, path));
    }
  }
}

/// Returns whether `file` is a run's checkpoint.
bool is_run_checkpoint(const std::string& file) {
  try {
    (void)summary_of_checkpoint(file);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

bool has_names_of_snapshots(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator at{folder, error}; !error && at != fs::directory_iterator{}; at.increment(error)) {
    if (at->path().filename().string().starts_with("snapshot_")) return true;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw std::runtime_error(fmt::format("--snapshots: '{}' cannot be read: {}", folder, error.message()));
  }
  return false;
}

/// Throws if the checkpoint, or the previous one that is kept next to it, would replace a file of another run.
void check_checkpoint(const RunVerb& options, const RunOrder& order) {
  constexpr std::size_t longest_name = 255;  // bytes: NAME_MAX of Linux
  const std::string previous = previous_name(order.checkpoint);
  if (const std::size_t bytes = fs::path{previous}.filename().string().size(); bytes > longest_name) {
    throw UsageError(
        fmt::format("--checkpoint: the name is too long: with '.previous' it has {} bytes, and a name has at most {}",
                    bytes, longest_name));
  }
  const bool replaces = options.existing == Existing::replace;
  const bool continues = same_place(order.checkpoint, options.resume);
  if (!replaces && !continues && exists(order.checkpoint)) {
    throw UsageError(
        fmt::format("'{0}' exists: continue it with --resume {0}, or replace it with --force", order.checkpoint));
  }
  if (!replaces && exists(previous) && !(continues && is_run_checkpoint(previous))) {
    throw UsageError(fmt::format(
        "'{}' exists, and this run needs the name for its previous checkpoint: choose another --checkpoint, or replace "
        "the file with --force",
        previous));
  }
  check_output(order.checkpoint, Existing::replace);
}

/// Throws if a run with these outputs would replace another run's snapshots. Checkpoints of earlier versions mark no
/// snapshot; then the bodies are compared.
void refuse_foreign_snapshots(const SnapshotSeries& series, const RunSchedule& schedule, Simulation& simulation,
                              const SimulationRun::Outputs& outputs) {
  const std::string folder = series.folder().string();
  if (!outputs.continues_snapshots) {
    if (!has_names_of_snapshots(folder)) return;
    throw UsageError(fmt::format(
        "--snapshots: '{}' holds snapshots already: name another folder, or replace them with --force", folder));
  }
  const std::int64_t first = SimulationRun::first_new_snapshot(simulation.status(), schedule, outputs);
  const std::vector<fs::path> later = series.files_from(first);
  if (later.empty()) return;
  const auto is_own = [&](const fs::path& file) {
    return !series.is_snapshot(file) || SnapshotSeries::is_of_bodies(file, simulation.bodies());
  };
  if (outputs.snapshot ? series.has(*outputs.snapshot) : std::ranges::all_of(later, is_own)) return;
  throw UsageError(fmt::format(
      "'{}' holds {}, and nothing shows that this run wrote it: name another --snapshots, or replace it with "
      "--force",
      folder, later.front().filename().string()));
}

/// Makes the snapshot folder. Throws if it must not or cannot be used.
void check_snapshots(const RunVerb& options, const RunOrder& order, Simulation& simulation,
                     const SimulationRun::Outputs& outputs) {
  const std::string refused = fmt::format("--snapshots: '{}' is not a folder and cannot be made: ", order.snapshots);
  std::error_code error;
  if (!fs::is_directory(order.snapshots, error) && fs::exists(order.snapshots, error)) {
    throw std::runtime_error(refused + "a file has this name");
  }
  if (options.existing != Existing::replace) {
    refuse_foreign_snapshots(SnapshotSeries{order.snapshots, order.snapshot_format},
                             RunSchedule{simulation.status(), order, outputs.due}, simulation, outputs);
  }
  fs::create_directories(order.snapshots, error);
  if (error) throw std::runtime_error(refused + error.message());
  check_output(fs::path{order.snapshots} / "snapshot_00000", Existing::replace_here);
}

/// Returns the file's name relative to the working folder, if the file is in it. Checkpoints contain absolute names.
std::string name_from_here(const std::string& file) {
  std::error_code gone;
  const fs::path path{file}, from_here = path.lexically_relative(fs::current_path(gone));
  const bool is_here = path.is_absolute() && !from_here.empty() && *from_here.begin() != "..";
  return is_here ? from_here.string() : file;
}

class Run {
 public:
  Run(const Backends& backends, const RunVerb& options)
      : options_{options},
        sharing_{backends.kernels().sharing()},
        chooser_{AutoChooser::this_machine(backends)},
        progress_{options.progress} {
    if (options.resume.empty()) {
      begin(backends);
    } else {
      resume(backends);
    }
    (void)RunSchedule{simulation_->status(), order_, outputs_.due};  // refuses a bad order before any output
    check_outputs();
    outputs_.existing = options.existing;
    outputs_.metadata = machine_metadata(backends);
    add_simulation(outputs_.metadata, simulation_->status());
    add_kernel(outputs_.metadata);
  }

  int operator()() {
    watch_stop_signals();
    SimulationRun run{*simulation_, order_, outputs_};
    if (!damaged_.empty()) console::complain(fmt::format("{}; kept as '{}'", damaged_, set_aside(order_.checkpoint)));
    const std::int64_t first = simulation_->status().step;
    if (!run_to_end(run)) return stop(run);
    print_summary(run, first);
    if (const std::string problem = run.summary().problem; !problem.empty()) throw std::runtime_error(problem);
    return 0;
  }

 private:
  /// Runs to the end. Returns false if it was stopped.
  bool run_to_end(SimulationRun& run) {
    try {
      const bool ended = run.run(stop_requested, [&](const SimulationRun::Progress& now) {
        progress_.show_left(
            now.left_s,
            fmt::format("step {} of {}, t = {:.6g}", format_count(now.step), format_count(now.last_step), now.sim_time),
            part_of(now.step, now.last_step));
      });
      progress_.clear();
      return ended;
    } catch (const OutputFailure& failure) {
      throw std::runtime_error(fmt::format("{}; {}", failure.what(), rescued(run, failure.what())));
    } catch (const std::runtime_error& failure) {
      if (simulation_->status().non_finite) {
        throw std::runtime_error(
            fmt::format("{}; a smaller --dt or a larger --softening may prevent it", failure_text(failure)));
      }
      if (!has_checkpoint(run)) throw;
      throw std::runtime_error(fmt::format("{}; {}", failure_text(failure), how_to_continue(order_.checkpoint)));
    }
  }

  void begin(const Backends& backends) {
    order_ = changed({}, options_);
    order_.checkpoint =
        followed(order_.checkpoint).string();  // resolves links: files next to the target are named after it
    outputs_.id = new_run_id();
    simulation_.emplace(backends, options_.scene.request, kernel_of_setup(backends.kernels(), options_.physics.setup),
                        nullptr, &chooser_);
    set_up(*simulation_, backends, options_.physics.setup, options_.settings);
    print_scene_notes(*simulation_);
  }

  /// Checks before the run that every output can be written and replaces no output of another run.
  void check_outputs() {
    refuse_outputs_that_meet(options_, order_);
    if (!order_.checkpoint.empty()) check_checkpoint(options_, order_);
    if (outputs_.diagnostics) require_rows(order_.diagnostics, *outputs_.diagnostics, outputs_.id);
    if (!order_.snapshots.empty()) check_snapshots(options_, order_, *simulation_, outputs_);
    if (order_.checkpoint.empty()) check_stop_folders();
  }

  void resume(const Backends& backends) {
    const std::string file = followed(options_.resume).string();
    const FoundCheckpoint found = find_checkpoint(file);
    const RunCheckpoint& checkpoint = found.checkpoint;
    order_ = changed(checkpoint.order.value_or(RunOrder{}), options_);
    if (options_.order.checkpoint.empty()) order_.checkpoint = file;
    damaged_ = found.note;
    continue_outputs(found);
    const KernelPtr kernel = backends.kernels().find(checkpoint.setup.kernel_id);
    simulation_.emplace(backends, SceneRequest{.scene = "two-body"}, kernel, nullptr, &chooser_);
    simulation_->resume(checkpoint.setup, checkpoint.state, checkpoint.step, checkpoint.hermite);
    if (kernel->repeatable) return;
    console::complain(
        fmt::format("the kernel {} may add up in another order each time: the run does not continue bit "
                    "for bit",
                    kernel->id));
  }

  /// Decides which files of the earlier run are continued: those in its checkpoint's folder, and files elsewhere if
  /// this command line names them.
  void continue_outputs(const FoundCheckpoint& found) {
    const RunCheckpoint& checkpoint = found.checkpoint;
    const RunOrder before = checkpoint.order.value_or(RunOrder{}), &asked = options_.order;
    const auto continues = [&](const char* option, const std::string& old, const std::string& named, bool elsewhere) {
      if (old.empty() || !named.empty()) return !old.empty() && same_place(old, named);
      if (!elsewhere) return true;
      throw UsageError(
          fmt::format("the checkpoint is in '{}', but its run wrote to '{}', outside that folder: name this place or "
                      "another one with {}",
                      fs::weakly_canonical(folder_of(options_.resume)).string(), old, option));
    };
    outputs_.id = checkpoint.order ? checkpoint.id : new_run_id();
    outputs_.due = checkpoint.outputs_due;
    outputs_.snapshot = checkpoint.snapshot;
    outputs_.continues_snapshots =
        continues("--snapshots", before.snapshots, asked.snapshots, found.snapshots_elsewhere);
    if (!continues("--diagnostics", before.diagnostics, asked.diagnostics, found.diagnostics_elsewhere)) return;
    const bool anew = options_.existing == Existing::replace && !asked.diagnostics.empty() &&
                      !belongs_to_run(before.diagnostics, checkpoint.id);
    if (anew) return;
    outputs_.diagnostics = checkpoint.diagnostics;
    order_.diagnostics = before.diagnostics;  // without the links in the given name
  }

  /// Keeps a checkpoint of a stopped run, and returns the exit status.
  int stop(SimulationRun& run) {
    const std::string continuation = kept(run);
    console::show(written_outputs(run));
    console::complain(fmt::format("stopped after step {} of {}; {}", format_count(simulation_->status().step),
                                  format_count(run.last_step()), continuation));
    return stop_status();
  }

  /// Writes a checkpoint, and returns how to continue from it, or that the run is complete. If the named checkpoint
  /// cannot be written (its folder may be gone), writes one elsewhere and also returns the cause, unless the cause is
  /// `said`. Throws if no checkpoint can be written.
  std::string kept(SimulationRun& run, const std::string& said = {}) const {
    std::string refused;
    const auto is_written = [&](const std::function<std::string()>& name, std::string& file) {
      try {
        file = name();
        run.write_checkpoint(file);
        return true;
      } catch (const std::runtime_error& error) {
        if (refused.empty()) refused = failure_text(error);
        return false;
      }
    };
    std::string file;
    if (!order_.checkpoint.empty() && is_written([&] { return order_.checkpoint; }, file)) return what_for(run, file);
    for (const fs::path& folder : stop_folders()) {
      if (!is_written([&] { return new_checkpoint_name(folder); }, file)) continue;
      const bool is_news = !order_.checkpoint.empty() && refused != said;
      return (is_news ? refused + "; " : "") + what_for(run, file);
    }
    throw std::runtime_error(refused);
  }
  std::string what_for(const SimulationRun& run, const std::string& checkpoint) const {
    if (run.is_complete()) return fmt::format("the last state is kept as '{}'", name_from_here(checkpoint));
    return how_to_continue(checkpoint);
  }
  std::string how_to_continue(const std::string& checkpoint) const {
    std::vector<std::string> words{"orrery", "run", "--resume", name_from_here(checkpoint)};
    const RunOrder order = order_in_checkpoint(order_, checkpoint, fs::path{});
    for (const auto& [option, stored, name] : {std::tuple{"--snapshots", order.snapshots, order_.snapshots},
                                               {"--diagnostics", order.diagnostics, order_.diagnostics}}) {
      if (fs::path{stored}.is_absolute()) words.insert(words.end(), {option, name_from_here(name)});
    }
    if (sharing_) words.insert(words.begin(), {"mpirun", "-n", std::to_string(sharing_->ranks())});
    return "continue with: " + shell_line(words);
  }

  /// Returns what was saved after an output failed, perhaps because a rank is lost. `said` is the cause of the failure.
  std::string rescued(SimulationRun& run, const std::string& said) const {
    try {
      return kept(run, said);
    } catch (const std::runtime_error& error) {
      if (has_checkpoint(run)) return how_to_continue(order_.checkpoint);
      if (failure_text(error) == said) return "nor can a checkpoint be written elsewhere";
      if (said.ends_with(failure_text(error))) return "nor can a checkpoint be written";
      return fmt::format("nor can a checkpoint be written: {}", failure_text(error));
    }
  }
  /// Returns whether the checkpoint that this run wrote or continues still exists under its name.
  bool has_checkpoint(const SimulationRun& run) const {
    std::error_code gone;
    return run.summary().checkpoints > 0 ? fs::exists(order_.checkpoint, gone)
                                         : fs::equivalent(order_.checkpoint, options_.resume, gone);
  }

  /// Returns folders for the checkpoint of a stopped run without a usable --checkpoint: the working folder, then the
  /// user's folder for states.
  static std::array<fs::path, 2> stop_folders() { return {fs::path{}, usual_state_folder()}; }

  void check_stop_folders() const {
    std::string refused;
    for (const fs::path& folder : stop_folders()) {
      try {
        check_output(new_checkpoint_name(folder), Existing::replace);
        return;
      } catch (const std::runtime_error& error) {
        if (refused.empty()) refused = failure_text(error);
      }
    }
    console::complain(fmt::format("a stopped run will leave no checkpoint: {}; name one with --checkpoint", refused));
  }

  /// Returns an unused name for a checkpoint in `folder`, which it makes. Throws std::runtime_error if it cannot.
  std::string new_checkpoint_name(const fs::path& folder) const {
    std::error_code error;
    if (!folder.empty()) fs::create_directories(folder, error);
    if (error)
      throw std::runtime_error(fmt::format("no folder '{}' can be made: {}", folder.string(), error.message()));
    constexpr std::size_t longest_stem = 200;  // leaves room for the suffixes in names of 255 bytes
    const std::string stem = fs::path{simulation_->status().scene_name}.stem().string();
    const std::string name = stem.substr(0, longest_stem) + ".checkpoint";
    for (int number = 0;; ++number) {
      const fs::path file = folder / numbered_path(name, number);
      if (!fs::exists(fs::symlink_status(file, error))) return file.string();
    }
  }

  /// Returns a line for the snapshots and one for the diagnostics, if they were written.
  std::string written_outputs(const SimulationRun& run) const {
    std::string text;
    if (const int snapshots = run.summary().snapshots; snapshots > 0)
      text +=
          fmt::format("wrote {} to {}\n", counted(snapshots, "snapshot"), printable(name_from_here(order_.snapshots)));
    if (!run.diagnostics_file().empty())
      text += fmt::format("wrote {}\n", printable(name_from_here(run.diagnostics_file())));
    return text;
  }

  /// Returns ", 4 ranks, NCCL 2.28.3"; empty for a single process.
  std::string ranks_text(Backend backend) const {
    if (!sharing_) return {};
    const std::string way = backend == Backend::cuda ? ", " + sharing_->transport() : "";
    return fmt::format(", {} ranks{}", sharing_->ranks(), way);
  }

  static std::string change_text(const EnergyChange& energy, std::int64_t bodies) {
    if (std::isfinite(energy.relative)) return short_exponent(fmt::format("{:.2e}", energy.relative));
    return bodies == 1 ? "not defined for one body" : "not defined: the energy is 0 or not finite";
  }

  /// Returns the measurement of the kernel that `auto` chose. Returns none if `auto` did not choose or did not measure.
  const Candidate* chosen() const {
    return simulation_->status().auto_choice && chooser_.chosen() ? &*chooser_.chosen() : nullptr;
  }

  /// Adds the kernel with all of its settings, and the reason of a choice by `auto`.
  void add_kernel(Json& metadata) const {
    const Status& now = simulation_->status();
    metadata["kernel"] = now.kernel_id;
    metadata["settings"] = Json(now.settings.values());
    metadata["auto"] = nullptr;
    if (!now.auto_choice) return;
    const Candidate* const candidate = chosen();
    metadata["auto"] = {{"accuracy", now.accuracy}};
    metadata["auto"].update(error_json(candidate ? candidate->error : std::nullopt));
  }

  /// Returns "kernel cpu-tree leaf=32 tolerance=0.0007", and if `auto` chose it, a second line with the reason.
  std::string kernel_text() const {
    const Status& now = simulation_->status();
    std::string text = fmt::format("kernel {}{}\n", words_for(*now.kernel, now.settings), ranks_text(now.backend));
    if (!now.auto_choice) return text;
    const Candidate* const candidate = chosen();
    const std::string accuracy = now.accuracy > 0 ? fmt::format("accuracy {:g}", now.accuracy) : "exact";
    return text + fmt::format("auto chose the kernel ({}): {}\n", accuracy,
                              candidate && candidate->error ? error_words(*candidate->error)
                              : candidate                   ? "a direct sum of full fp32 accuracy"
                                                            : "the default; nothing was measured");
  }

  void print_summary(const SimulationRun& run, std::int64_t first) const {
    const Status& now = simulation_->status();
    const SimulationRun::Summary summary = run.summary();
    std::string text =
        fmt::format("{}: {}, steps {} to {}, t = {:.6g}, {}", printable(now.scene_name), counted_bodies(now.count),
                    format_count(first), format_count(now.step), now.sim_time, kernel_text());
    if (summary.steps > 0) {
      text += fmt::format("{:.3g} ms per step, {:.3g} interactions/s\n",
                          1e3 * summary.steps_s / static_cast<double>(summary.steps),
                          summary.interactions / summary.steps_s);
    }
    if (const std::optional<EnergyChange>& energy = summary.energy) {
      text += fmt::format("relative change of the energy since step {}: {}\n", format_count(energy->since_step),
                          change_text(*energy, now.count));
    }
    text += written_outputs(run);
    if (!order_.checkpoint.empty()) text += fmt::format("wrote {}\n", printable(name_from_here(order_.checkpoint)));
    console::show(text);
  }

  const RunVerb& options_;
  const KernelSharing* const sharing_;  // null: a single process
  RunOrder order_;
  SimulationRun::Outputs outputs_;
  AutoChooser chooser_;
  std::optional<Simulation> simulation_;
  std::string damaged_{};  // why another checkpoint than that of --resume continues; empty: none does
  Progress progress_;
};

}  // namespace

void RunVerb::declare(CommandLine& line) {
  scene.declare(line);
  line.add("--steps", "K", "ends after step K", order.steps,
           Range<std::int64_t>{0, std::numeric_limits<std::int64_t>::max()});
  line.add("--until", "T", "ends with the first step that reaches time T; a FILE's time counts", order.until,
           RunOrder::ends);
  kernels.declare_file(line, FileKernelUse::plain, "kernel of your own (orrery new-kernel)");
  kernels.declare_first(line, "kernel (orrery kernels); default auto: the fastest that is accurate enough");
  kernels.declare_accuracy(line);
  kernels.declare_settings(line);
  physics.declare(line);
  line.add("--snapshots", "FOLDER",
           "writes the bodies every T into files of this folder, made if missing; needs --every",
           [this](const std::string& text) {
             if (text == "-") refuse_value("--snapshots", text, "the name of a folder: standard output holds one file");
             order.snapshots = file_name("--snapshots", text);
           });
  line.add("--format", "ID",
           "format of the snapshots: " + joined_ids(snapshot_formats()) + fmt::format(" ({})", order.snapshot_format),
           [this](const std::string& text) { snapshot_format = find_named(snapshot_formats(), text, "format")->id; });
  line.add_file("--diagnostics", "writes energy, momentum, Lagrangian radii and more every T, as CSV",
                order.diagnostics);
  line.add("--every", "T",
           "simulated time between snapshots and between rows of diagnostics (for rows: a hundredth of the run)",
           order.every, RunOrder::times);
  line.add("--checkpoint", "FILE", "keeps the state in this file, from which --resume continues",
           [this](const std::string& text) {
             if (is_stream(text))
               refuse_value("--checkpoint", text, "the name of a file, which is replaced again and again");
             order.checkpoint = file_name("--checkpoint", text);
           });
  line.add("--every-s", "S", fmt::format("seconds of the clock between checkpoints ({:g})", order.checkpoint_every_s),
           checkpoint_every_s, RunOrder::checkpoint_times);
  line.add_file("--resume", "continues the run of a checkpoint, to its own end or a new one", resume);
  add_force(line, existing);
  add_progress(line, progress);
  device.declare_several(line);
  line.add_footer(
      "Examples:\n"
      "  orrery run --scene collision -n 64k --until 20 --snapshots out --every 0.5 --diagnostics energy.csv\n"
      "  orrery run galaxy.tipsy --steps 10000 --checkpoint galaxy.checkpoint\n"
      "  orrery run --resume galaxy.checkpoint --steps 20000\n"
      "\nSteps are counted from the scene's first state, times from 0 or from the time in the FILE. Ctrl+C and SIGTERM "
      "write a checkpoint and print how "
      "to continue. A continued run equals an uninterrupted one bit for bit, if its kernel repeats its results.");
}

void RunVerb::finish(const CommandLine& line) {
  scene.check(line);
  device.check();
  require_an_end(*this);
  refuse_what_nothing_uses(*this);
  if (!resume.empty()) return refuse_what_a_checkpoint_decides(line, kernels, physics, scene.request.file);
  scene.check_count();
  physics.take_law(line);
  physics.check_eta();
  const KernelSelection kernel = kernels.first(line.kernels);
  if (!kernel.automatic) kernels.refuse_accuracy("--kernel");
  kernels.select_first(kernel, physics.setup, settings);
}

int RunVerb::run(const Program& program) const {
  RunFiles files{.inputs = {}, .outputs = {}, .existing = existing};
  add_named(files.inputs, "FILE", scene.request.file);
  add_named(files.inputs, "--resume", resume);
  add_named(files.outputs, "--diagnostics", order.diagnostics);
  if (order.checkpoint != resume) add_named(files.outputs, "--checkpoint", order.checkpoint);
  prepare_files(files);
  const Backends backends = device.backends(program.kernels);
  compile_kernel_files(backends);
  return Run{backends, *this}();
}

extern constinit const VerbInfo run_verb{"run", "runs a simulation without a window, with snapshots and checkpoints",
                                         create_verb<RunVerb>};

}  // namespace orrery
