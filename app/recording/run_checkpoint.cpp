#include "app/recording/run_checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "app/commands/command_text.h"
#include "app/lab/measurement.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "app/ui_state/command.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/kernels/kernel.h"
#include "compute/sim/command_rows.h"
#include "compute/snapshots/checkpoint.h"
#include "orrery_version.h"

namespace orrery {
namespace {

std::string name_in(const JsonObject& json, const char* member) {
  const std::string text = json.text(member);
  if (text.find('\0') != text.npos) refuse_json(member, json.at(member), "the name of a file");
  return name_of_text(text);
}

}  // namespace

Json to_json(const RunOrder& order) {
  Json json = Json::object();
  if (order.steps) json["steps"] = *order.steps;
  if (order.until) json["until"] = *order.until;
  if (order.every) json["every"] = *order.every;
  json["snapshots"] = text_of_name(order.snapshots);
  json["snapshot_format"] = order.snapshot_format;
  json["diagnostics"] = text_of_name(order.diagnostics);
  json["checkpoint_every_s"] = order.checkpoint_every_s;
  return json;
}

RunOrder run_order_of(const JsonObject& json) {
  constexpr Range<std::int64_t> all_steps{0, std::numeric_limits<std::int64_t>::max()};
  RunOrder order;
  if (json.has("steps")) order.steps = json.number("steps", all_steps);
  if (json.has("until")) order.until = json.number("until", RunOrder::ends);
  if (json.has("every")) order.every = json.number("every", RunOrder::times);
  if (json.has("snapshots")) order.snapshots = name_in(json, "snapshots");
  if (json.has("snapshot_format")) order.snapshot_format = json.text("snapshot_format");
  if (json.has("diagnostics")) order.diagnostics = name_in(json, "diagnostics");
  if (json.has("checkpoint_every_s")) {
    order.checkpoint_every_s = json.number("checkpoint_every_s", RunOrder::checkpoint_times);
  }
  return order;
}

namespace {

namespace fs = std::filesystem;

std::string setup_text(const RunRecord& run) {
  Json json{{"program", "orrery"}, {"version", version}, {"git", git_id}};
  if (!run.id.empty()) json["id"] = run.id;
  RunSetup setup = run.setup;
  setup.scene.file = text_of_name(setup.scene.file);
  json["run"] = command_json(Command{ReturnToRun{std::move(setup)}});
  if (run.order) json["order"] = to_json(*run.order);
  if (const auto& place = run.diagnostics) {
    json["diagnostics"] = {{"bytes", place->bytes}, {"first_energy", place->first_energy}};
  }
  if (const auto& mark = run.snapshot) {
    json["snapshot"] = {{"name", mark->name}, {"bytes", mark->bytes}, {"checksum", mark->checksum}};
  }
  if (run.outputs_due) json["outputs_due"] = true;
  return json_text(json);
}

RunSetup setup_of(const Json& json) {
  const Request request = command_of(json);
  const Command* const command = std::get_if<Command>(&request);
  const ReturnToRun* const run = command ? std::get_if<ReturnToRun>(command) : nullptr;
  if (!run)
    throw UsageError(fmt::format("'run' is not the command '{}'", row_in<ReturnToRun>(simulation_commands).name));
  RunSetup setup = run->run;
  setup.scene.file = name_of_text(setup.scene.file);
  return setup;
}

void take_members(const JsonObject& json, RunRecord& run) {
  if (json.has("id")) run.id = json.text("id");
  run.setup = setup_of(json.at("run"));
  if (json.has("order")) run.order = run_order_of(json.object("order"));
  if (json.has("diagnostics")) {
    constexpr double largest = std::numeric_limits<double>::max();
    const JsonObject place = json.object("diagnostics");
    run.diagnostics = {place.number("bytes", Range<std::int64_t>{0, std::numeric_limits<std::int64_t>::max()}),
                       place.number("first_energy", Range<double>{-largest, largest})};
  }
  if (json.has("snapshot")) {
    const JsonObject mark = json.object("snapshot");
    run.snapshot = {mark.text("name"),
                    mark.number("bytes", Range<std::uint64_t>{0, std::numeric_limits<std::uint64_t>::max()}),
                    mark.number("checksum", Range<std::uint32_t>{0, std::numeric_limits<std::uint32_t>::max()})};
  }
  if (json.has("outputs_due")) run.outputs_due = json.flag("outputs_due");
}

/// Sets the members of `run` from the setup in a checkpoint. `text` is not trusted: anybody may have written the file.
void take_setup(const std::string& file, const std::string& text, RunRecord& run) {
  std::string cause = "bodies alone, without the settings of a run: open it as a FILE";
  if (!text.empty()) {
    try {
      const std::optional<Json> json = checked_json(text, cause);
      if (json) return take_members(JsonObject{*json, ""}, run);
      cause = "its setup cannot be read: " + cause;
    } catch (const UsageError& error) {
      cause = fmt::format("its setup cannot be used: {}", error.what());
    }
  }
  throw std::runtime_error(fmt::format("'{}': {}", file, cause));
}

RunCheckpoint read_run_checkpoint(const std::string& file) {
  Checkpoint stored = read_checkpoint(file);
  RunCheckpoint checkpoint{{.setup = {}, .hermite = std::move(stored.hermite), .step = stored.step},
                           std::move(stored.snapshot)};
  take_setup(file, stored.setup, checkpoint);
  return checkpoint;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path{"."};
}

/// Returns `path` relative to `folder`, with all links followed; empty if it is neither in `folder` nor below it.
fs::path place_below(const fs::path& folder, const fs::path& path) {
  std::error_code folder_error, path_error;
  const fs::path from = fs::weakly_canonical(folder, folder_error),
                 to = fs::weakly_canonical(followed(path), path_error);
  if (folder_error || path_error) return {};
  const fs::path below = to.lexically_relative(from);
  return below.empty() || *below.begin() == ".." ? fs::path{} : below;
}

/// Makes a name from a checkpoint in `folder` usable from the current folder. Returns whether it is outside `folder`.
bool resolve(const fs::path& folder, std::string& name) {
  if (name.empty()) return false;
  const fs::path below = place_below(folder, folder / name);
  if (below.empty()) {
    name = (folder / name).lexically_normal().string();
    return true;
  }
  name = (folder == "." ? below : folder / below).string();
  return false;
}

FoundCheckpoint found(const std::string& file, RunCheckpoint checkpoint, std::string note = {}) {
  FoundCheckpoint found{std::move(checkpoint), std::move(note)};
  if (std::optional<RunOrder>& order = found.checkpoint.order) {
    const fs::path folder = folder_of(file);
    order->checkpoint = file;
    found.snapshots_elsewhere = resolve(folder, order->snapshots);
    found.diagnostics_elsewhere = resolve(folder, order->diagnostics);
  }
  return found;
}

}  // namespace

RunRecord record_of(Simulation& simulation) {
  RunSetup setup = run_of(trial_of(simulation.status()));
  setup.settings = with_decided_threads(*simulation.status().kernel, std::move(setup.settings));
  std::error_code gone;  // set if the working folder has vanished
  const fs::path scene = setup.scene.file.empty() ? fs::path{} : fs::absolute(setup.scene.file, gone);
  if (!gone) setup.scene.file = scene.string();
  HermiteState hermite = simulation.hermite_state();
  return {.setup = std::move(setup), .hermite = std::move(hermite), .step = simulation.status().step};
}

RunCheckpoint checkpoint_of(Simulation& simulation) {
  Snapshot state = simulation.snapshot();
  return {record_of(simulation), std::move(state)};
}

CheckpointSummary summary_of_checkpoint(const std::string& file) {
  const CheckpointHead head = read_checkpoint_head(file);
  RunRecord run;
  take_setup(file, head.setup, run);
  return {run.setup.scene, head.bodies, head.time};
}

bool is_checkpoint_name(const std::string& file) {
  return fs::path{file}.extension() == ".checkpoint";
}

std::string new_run_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

RunOrder order_in_checkpoint(RunOrder order, const std::string& file, const fs::path& working_folder) {
  const auto full = [&](const std::string& name) {
    std::error_code gone;
    const fs::path path = fs::absolute(name, gone);
    return gone ? working_folder / name : path;
  };
  const fs::path folder = full(file).parent_path();
  for (std::string* name : {&order.snapshots, &order.diagnostics}) {
    if (name->empty()) continue;
    const fs::path below = place_below(folder, full(*name));
    *name = below.empty() ? full(*name).lexically_normal().string() : below.string();
  }
  return order;
}

std::string write_run_checkpoint(const std::string& file, const RunRecord& run, const SnapshotView& state,
                                 Existing existing) {
  return write_checkpoint(file, CheckpointParts{state, run.hermite, run.step, setup_text(run)}, existing);
}

std::string previous_name(const std::string& file) {
  fs::path path{file};
  const fs::path ending = path.extension();
  return path.replace_extension(".previous").concat(ending.native()).string();
}

void keep_checkpoint(const std::string& file, const RunRecord& run, const SnapshotView& state) {
  AtomicFile out{file, Existing::replace_here};
  write_checkpoint(out, CheckpointParts{state, run.hermite, run.step, setup_text(run)});
  out.commit_keeping(fs::path{previous_name(file)}.filename().string());
}

std::string set_aside(const std::string& file) {
  std::error_code error;
  fs::path damaged;
  for (int number = 0; damaged.empty() || fs::exists(fs::symlink_status(damaged, error)); ++number) {
    damaged = file + (number == 0 ? ".damaged" : fmt::format(".damaged-{}", number));
  }
  fs::rename(file, damaged, error);
  if (error) throw std::runtime_error(fmt::format("'{}': not renamed: {}", file, error.message()));
  return damaged.string();
}

FoundCheckpoint find_checkpoint(const std::string& file) {
  try {
    return found(file, read_run_checkpoint(file));
  } catch (const std::runtime_error& error) {
    const std::string previous = previous_name(file), why = failure_text(error);
    std::error_code unknown;
    if (!fs::exists(previous, unknown)) throw;
    return found(file, read_run_checkpoint(previous), fmt::format("{}; continues from '{}'", why, previous));
  }
}

}  // namespace orrery
