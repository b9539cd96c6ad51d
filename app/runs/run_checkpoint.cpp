#include "app/runs/run_checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>
#include <variant>

#include "app/commands/command_json.h"
#include "app/ui_state/command.h"
#include "app/ui_state/trial.h"
#include "compute/core/error.h"
#include "compute/core/failure_text.h"
#include "compute/kernels/parts/deciding_threads.h"
#include "compute/snapshots/checkpoint.h"
#include "orrery_version.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string setup_text(const RunRecord& checkpoint) {
  Json json{{"program", "orrery"}, {"version", version}, {"git", git_id}};
  json["run"] = command_json(Command{ReturnToRun{checkpoint.setup}});
  if (checkpoint.order) json["order"] = to_json(*checkpoint.order);
  if (const auto& place = checkpoint.diagnostics) {
    json["diagnostics"] = {{"bytes", place->bytes}, {"first_energy", place->first_energy}};
  }
  if (checkpoint.outputs_due) json["outputs_due"] = true;
  return json_text(json);
}

RunSetup setup_of(const Json& json) {
  const Request request = command_of(json);
  const Command* const command = std::get_if<Command>(&request);
  const ReturnToRun* const run = command ? std::get_if<ReturnToRun>(command) : nullptr;
  if (!run) throw std::runtime_error("its setup is not that of a run");
  return run->run;
}

void take_setup(const std::string& text, RunRecord& checkpoint) {
  if (text.empty()) throw std::runtime_error("bodies alone, without the settings of a run: open it as a FILE");
  try {
    const Json json = Json::parse(text);
    checkpoint.setup = setup_of(json.at("run"));
    if (json.contains("order")) checkpoint.order = run_order_of(json["order"]);
    if (json.contains("diagnostics")) {
      const Json& place = json["diagnostics"];
      checkpoint.diagnostics = {place.at("bytes").get<std::int64_t>(), place.at("first_energy").get<double>()};
    }
    checkpoint.outputs_due = json.value("outputs_due", false);
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("its setup cannot be read: {}", error.what()));
  } catch (const UsageError& error) {
    throw std::runtime_error(fmt::format("its setup cannot be used: {}", error.what()));
  }
}

RunCheckpoint read_run_checkpoint(const std::string& file) {
  Checkpoint stored = read_checkpoint(file);
  RunCheckpoint checkpoint{{.setup = {}, .hermite = std::move(stored.hermite), .step = stored.step},
                           std::move(stored.snapshot)};
  try {
    take_setup(stored.setup, checkpoint);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("'{}': {}", file, failure_text(error)));
  }
  return checkpoint;
}

/// `file` stays, and `other` becomes the same file, in place of the one that it was.
void give_second_name(const fs::path& file, const fs::path& other) {
  const fs::path fresh = fs::path{other}.concat(".new");
  std::error_code error;
  fs::remove(fresh, error);
  fs::create_hard_link(file, fresh, error);
  if (error) fs::copy_file(file, fresh, fs::copy_options::overwrite_existing);  // no links on this file system
  fs::rename(fresh, other);
}

}  // namespace

RunRecord record_of(Simulation& simulation) {
  RunSetup setup = run_of(trial_of(simulation.status()));
  setup.settings = with_decided_threads(*simulation.status().kernel, std::move(setup.settings));
  std::error_code gone;  // the working folder
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
  take_setup(head.setup, run);
  return {run.setup.scene, head.bodies, head.time};
}

bool is_checkpoint_name(const std::string& file) {
  return fs::path{file}.extension() == ".checkpoint";
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
  const std::string next = file + ".next";
  try {
    write_run_checkpoint(next, run, state, Existing::replace);
  } catch (const std::runtime_error& error) {  // it names the temporary file
    std::string cause = failure_text(error);
    if (const std::size_t at = cause.find(next); at != cause.npos) cause.replace(at, next.size(), file);
    throw std::runtime_error(cause);
  }
  try {
    if (fs::exists(file)) give_second_name(file, previous_name(file));
    fs::rename(next, file);
  } catch (const fs::filesystem_error& error) {
    throw std::runtime_error(fmt::format("'{}': not written: {}", file, error.code().message()));
  }
}

std::string set_aside(const std::string& file) {
  const std::string damaged = file + ".damaged";
  std::error_code error;
  fs::rename(file, damaged, error);
  if (error) throw std::runtime_error(fmt::format("'{}': not renamed: {}", file, error.message()));
  return damaged;
}

FoundCheckpoint find_checkpoint(const std::string& file) {
  try {
    return {read_run_checkpoint(file)};
  } catch (const std::runtime_error& error) {
    const std::string previous = previous_name(file), why = failure_text(error);
    if (!fs::exists(previous)) throw;
    return {read_run_checkpoint(previous), fmt::format("{}; continues from '{}'", why, previous)};
  }
}

}  // namespace orrery
