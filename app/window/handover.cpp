// How a window that has lost its device goes on in another process.
#include "app/window/handover.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/command_text.h"
#include "app/panels/workshop_panel.h"
#include "app/runs/run_checkpoint.h"
#include "app/text/input_file.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/run_view.h"
#include "app/window/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/temporary_folder.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

fs::path file_in(const fs::path& folder) {
  return folder / "handover.json";
}

fs::path memory_in(const fs::path& folder) {
  return folder / "window.json";
}

/// Texts of kernel files may be longer than read_json() allows a text to be: each has a file of its own.
fs::path kernel_in(const fs::path& folder) {
  return folder / "kernel.cu";
}

fs::path version_in(const fs::path& folder, std::size_t number) {
  return folder / fmt::format("version-{}.cu", number);
}

Json camera_json(const CameraView& view) {
  return {view.azimuth, view.elevation, view.distance, view.target.x, view.target.y, view.target.z};
}

CameraView camera_of(const Json& json) {
  return {.azimuth = json.at(0),
          .elevation = json.at(1),
          .distance = json.at(2),
          .target = {json.at(3).get<double>(), json.at(4).get<double>(), json.at(5).get<double>()}};
}

Json requests_json(const Requests& requests) {
  Json json = Json::array();
  for (const Request& request : requests) json.push_back(command_json(request));
  return json;
}

Requests requests_of(const Json& json) {
  Requests requests;
  for (const Json& request : json) requests.push_back(command_of(request));
  return requests;
}

void write_texts(const fs::path& folder, const KernelHistory& history) {
  std::size_t number = 0;
  for (const auto& version : history.versions)
    write_file(version_in(folder, ++number), version.text, Existing::replace);
}

void read_texts(const fs::path& folder, KernelHistory& history) {
  std::size_t number = 0;
  for (auto& version : history.versions) version.text = read_text(version_in(folder, ++number).string());
}

Handover handover_of(const fs::path& folder, const Json& json) {
  Handover handover;
  handover.message = json.at("message");
  handover.same_kernel = json.at("same_kernel");
  handover.requests = requests_of(json.at("requests"));
  handover.picks = requests_of(json.at("picks"));
  handover.camera = camera_of(json.at("camera"));
  if (json.contains("recording")) handover.recording = json["recording"].get<std::string>();
  if (json.contains("kernel")) {
    const Json& kernel = json["kernel"];
    handover.kernel = {
        .file = kernel.at("file"), .text = read_text(kernel_in(folder).string()), .version = kernel.at("version")};
  }
  if (json.contains("workshop")) {
    handover.workshop = history_of(json["workshop"]);
    read_texts(folder, *handover.workshop);
  }
  return handover;
}

}  // namespace

void write_handover(const fs::path& folder, const Handover& handover) {
  Json json{{"message", handover.message},
            {"same_kernel", handover.same_kernel},
            {"requests", requests_json(handover.requests)},
            {"picks", requests_json(handover.picks)},
            {"camera", camera_json(handover.camera)}};
  if (handover.recording) json["recording"] = *handover.recording;
  if (const auto& kernel = handover.kernel) {
    json["kernel"] = {{"file", kernel->file}, {"version", kernel->version}};
    write_file(kernel_in(folder), kernel->text, Existing::replace);
  }
  if (handover.workshop) {
    json["workshop"] = history_json(*handover.workshop);
    write_texts(folder, *handover.workshop);
  }
  const auto as_it_is = Json::error_handler_t::replace;  // a name of a file may have bytes that are no UTF-8
  write_file(file_in(folder), json.dump(-1, ' ', false, as_it_is), Existing::replace);
  write_window_memory(memory_in(folder), handover.window);
}

Handover read_handover(const fs::path& folder) {
  const Json json = read_json(file_in(folder).string());
  try {
    Handover handover = handover_of(folder, json);
    handover.window = read_window_memory(memory_in(folder));
    return handover;
  } catch (const UsageError& error) {
    throw std::runtime_error(fmt::format("'{}': {}", file_in(folder).string(), error.what()));
  } catch (const Json::exception&) {
    throw std::runtime_error(fmt::format("'{}': a value is missing or of another type", file_in(folder).string()));
  }
}

void remove_handover(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& file :
       {file_in(folder), memory_in(folder), Handover::checkpoint_in(folder), kernel_in(folder)}) {
    fs::remove(file, ignored);
  }
  std::size_t number = 1;
  while (fs::remove(version_in(folder, number), ignored)) ++number;
  fs::remove(folder, ignored);
}
namespace {

// Viewer: how a window that has lost its device hands over, and how the next one takes over.
/// It outlives this process.
std::filesystem::path new_folder() {
  std::string name = (temporary_place() / "orrery-window-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder: " + name);
  return name;
}

/// `kernel` is the name of the one that ran.
std::string words_of(const DeviceLoss& loss, const std::string& kernel) {
  return fmt::format("{}{}{}: {}", loss.hangs ? "" : "the device failed with ", kernel, loss.hangs ? " hangs" : "",
                     loss.cause);
}

}  // namespace

/// After the loss of a device, unless the program that takes over would lose it in the same way again. Otherwise the
/// window goes on as Simulation::loss() leaves it.
void Viewer::follow_device() {
  leave_hanging_kernel();
  const std::optional<DeviceLoss>& loss = session_.lane.simulation().loss();
  if (session_.lockstep || !next_program_ || !loss || std::exchange(loss_seen_, true)) return;
  if (handover_ && handover_->same_kernel && loss->good && same_kernel(*loss->good, *loss->kernel)) return;
  std::filesystem::path folder;
  try {
    folder = new_folder();
    hand_over(folder, *loss);
    next_program_->folder = folder;
    quit_ = handed_over_ = true;
    session_.said_error = session_.lane.status().last_error;  // the next window says it in other words
  } catch (const std::exception& error) {
    if (!folder.empty()) remove_handover(folder);
    session_.complain(
        fmt::format("{}; the window cannot start again: {}", session_.lane.status().last_error, failure_text(error)));
  }
}

/// Returns whether the kernel hangs, in A or in B, which share the device.
bool Viewer::kernel_hangs() {
  Simulation& a = session_.lane.simulation();
  if (a.look_for_hang() || !compare_.active()) return a.loss() && a.loss()->hangs;
  Simulation& b = compare_.second().lane().simulation();
  if (!b.look_for_hang()) return false;
  a.share_loss(*b.loss());
  return true;
}

/// If the kernel hangs: the next program takes over at once. Nothing of the device may be called any more, no
/// destructor either. On the thread of the frames, or on that of the rescue: OpenGL waits for a kernel whose bodies it
/// draws.
void Viewer::leave_hanging_kernel() {
  if (!kernel_hangs()) return;
  const DeviceLoss& loss = *session_.lane.simulation().loss();
  const std::string what = words_of(loss, workshop_.control().name_of(*loss.kernel));
  if (session_.lockstep || !next_program_) session_.rescue.end_program(what, 1);
  const bool closed = quit_ || session_.surface->close_requested();
  std::filesystem::path folder;
  std::string why;
  try {
    folder = new_folder();
    hand_over(folder, loss);
    handed_over_ = true;
    carry_out(StopRecording{});
    why = closed ? continuation(folder) : start_anew(folder, next_program_->words);
  } catch (const std::exception& error) {
    why = fmt::format("the window cannot start again: {}", failure_text(error));
    if (const std::string by_hand = folder.empty() ? "" : continuation(folder); !by_hand.empty()) why += "; " + by_hand;
  }
  session_.rescue.end_program(fmt::format("{}; {}", what, why), stop_requested() ? stop_status() : 1);
}

/// Writes all that the next program needs into `folder`.
void Viewer::hand_over(const std::filesystem::path& folder, const DeviceLoss& loss) {
  const bool needs_jerks = find_integrator(session_.lane.status().integrator_id).needs_jerks;
  const KernelPtr kernel = loss.good ? loss.good : session_.backends.default_kernel(needs_jerks);
  RunCheckpoint checkpoint = checkpoint_of(session_.lane.simulation());
  checkpoint.setup.kernel_id = kernel->id;
  checkpoint.setup.settings = loss.good ? loss.good_settings.values() : Settings{*kernel}.values();
  checkpoint.setup.kernel_revision = 0;
  (void)write_run_checkpoint(Handover::checkpoint_in(folder).string(), checkpoint, Existing::replace);

  const std::string failed = workshop_.control().name_of(*loss.kernel);
  const std::vector<std::string> left = left_behind(loss.hangs);
  Handover next{
      .message = fmt::format("{}; {} goes on from step {} in a new window{}", words_of(loss, failed),
                             workshop_.control().name_of(*kernel), checkpoint.step,
                             left.empty() ? "" : fmt::format(", without {}", fmt::join(left, ", "))),
      .window = present_memory(loss.hangs ? seen_place_ : present_place()),
      .requests = present_look(loss),
      .picks = present_picks(),
      .camera = view_of(camera_.camera()),
      .recording = session_.lane.log().recording() ? std::optional{recording_asked_} : std::nullopt,
      .kernel = {},
      .workshop = workshop_.control().history_without(
          *loss.kernel, (loss.hangs ? "it hangs in the shown run: " : "the device failed with it: ") + loss.cause),
      .same_kernel = same_kernel(*kernel, *loss.kernel)};
  if (kernel->file_text) next.kernel = {workshop_.control().file_of(*kernel), kernel->file_text, kernel->file_version};
  write_handover(folder, next);
  (void)read_handover(folder);  // whatever the next program cannot read is an error of this one, which can go on
}

/// Lists the things that the next window does not have. Exports the results that are in no file yet. `at_once`: this
/// program ends without finishing a film, whose file appears at its end.
std::vector<std::string> Viewer::left_behind(bool at_once) {
  std::vector<std::string> left;
  if (compare_.active()) left.emplace_back("the comparison");
  for (const auto& feature : features_) feature->add_left_behind(left);
  if (films_.live()) left.push_back(fmt::format("{}the film {}", at_once ? "" : "the rest of ", films_.live()->file()));
  if (camera_.paths().unsaved()) left.emplace_back("the camera path");
  for (const auto& [file, draft] : session_.panels.lab.workshop.sources) {
    if (unsaved(draft)) left.push_back(fmt::format("the edits of {} that were not saved", file));
  }
  if (const std::int64_t rows = unwritten_results(); rows > 0) {
    try {
      carry_out(ExportResults{});
    } catch (const std::exception& error) {
      left.push_back(fmt::format("{} ({})", counted(rows, "result", "results"), failure_text(error)));
    }
  }
  return left;
}

/// The requests that make a new window what this one is, beside what WindowMemory has.
Requests Viewer::present_look(const DeviceLoss& loss) const {
  Requests requests;
  if (loss.automatic && !loss.kernel->compiles) requests.emplace_back(SelectKernel{auto_kernel});
  requests.emplace_back(SetAccuracy{session_.lane.status().accuracy});
  requests.emplace_back(SetStepsPerFrame{session_.lane.status().steps_per_frame});
  requests.emplace_back(SetPaused{!loss.ran});
  if (appearance_chosen_) requests.emplace_back(SetAppearance{session_.view.appearance});
  const Overlays& overlays = session_.view.overlays;
  requests.emplace_back(overlays.trails);
  requests.emplace_back(overlays.vectors);
  requests.emplace_back(overlays.cells);
  requests.emplace_back(overlays.walk);
  requests.emplace_back(overlays.axes);
  requests.emplace_back(ShowLegend{session_.view.legend_shown});
  const Diagnostics& diagnostics = session_.view.diagnostics;
  requests.emplace_back(SetDiagnostics{diagnostics.probe, diagnostics.sample, diagnostics.conserved_interval_s});
  requests.emplace_back(SetVsync{session_.view.vsync});
  if (session_.view.fullscreen) requests.emplace_back(ToggleFullscreen{});
  const bool panel = session_.view.presentation ? panel_before_presentation_ : session_.view.panel;
  if (panel != session_.options.panel) requests.emplace_back(TogglePanel{});
  if (session_.view.presentation) requests.emplace_back(SetPresentation{true});
  return requests;
}

Requests Viewer::present_picks() const {
  Requests picks;
  if (camera_.picker().number()) picks.emplace_back(PickBody{*camera_.picker().number()});
  if (camera_.follow().active()) picks.emplace_back(camera_.follow().what());
  return picks;
}

/// Resumes the run of the handover, before anything else is known of the window. If the device is still lost, a CPU
/// kernel goes on.
void Viewer::resume_handed_over() {
  FoundCheckpoint found = find_checkpoint(session_.options.resume_file);
  try {
    workshop_.control().restore(*handover_);
    resume(found);
  } catch (const std::exception& error) {
    RunSetup& run = found.checkpoint.setup;
    const KernelPtr kernel =
        session_.backends.default_cpu_kernel(find_integrator(run.physics.integrator_id).needs_jerks);
    handover_->message +=
        fmt::format("; but {} cannot run: {}; {} goes on", run.kernel_id, failure_text(error), kernel->id);
    run.kernel_id = kernel->id;
    run.settings = {};
    resume(found);
  }
}

/// Takes over the rest of the previous window, at the end of this window's start.
void Viewer::take_over() {
  if (stop_requested()) throw std::runtime_error(stopped_between);  // and leaves the folder
  carry_out_requests(handover_->requests);
  if (handover_->recording) {
    recording_asked_ = *handover_->recording;
    try {
      begin_next_recording();
    } catch (const std::exception& error) {
      session_.failed = true;
      session_.complain(failure_text(error));
    }
  }
  continued_ = true;
  remove_handover(session_.options.handover);
  session_.complain(handover_->message);
}

/// The camera, once it has framed the first bodies.
void Viewer::take_over_camera() {
  carry_out_requests(std::exchange(handover_->picks, {}));
  place(camera_.camera(), handover_->camera);
}

}  // namespace orrery
