// State for the next window: the run and the appearance, and after the loss of a device the rest of the work.
#include "app/window/handover.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands/command_text.h"
#include "app/recording/run_checkpoint.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
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
#include "compute/core/threads.h"
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

/// Returns the file of a kernel's text. The text is not in the JSON because read_json() limits the length of texts.
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
  const auto as_it_is = Json::error_handler_t::replace;  // file names may have bytes that are not UTF-8
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

// Viewer: handing over after the loss of a device, and taking over in the next window.
/// Creates a temporary folder that outlives this process.
std::filesystem::path new_folder() {
  std::string name = (temporary_place() / "orrery-window-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder: " + name);
  return name;
}

/// Returns the cause of the loss for the user. `kernel` is the name of the kernel that was running.
std::string words_of(const DeviceLoss& loss, const std::string& kernel) {
  return fmt::format("{}{}{}: {}", loss.hangs ? "" : "the device failed with ", kernel, loss.hangs ? " hangs" : "",
                     loss.cause);
}

}  // namespace

/// After the loss of a device, hands over to a new program, unless that would lose the device again in the same way.
/// Without a handover, the window continues in the state that Simulation::loss() describes.
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
    session_.said_error = session_.lane.status().last_error;  // the next window reports it in other words
  } catch (const std::exception& error) {
    if (!folder.empty()) remove_handover(folder);
    session_.complain(
        fmt::format("{}; the window cannot start again: {}", session_.lane.status().last_error, failure_text(error)));
  }
}

/// Returns the kernel's name for the user.
std::string Viewer::name_of(const KernelInfo& kernel) const {
  for (const auto& feature : features_) {
    if (std::string name = feature->name_of(kernel); !name.empty()) return name;
  }
  return kernel.id;
}

/// Returns whether a kernel hangs, in the shown run or in the second one. Both share the device.
bool Viewer::kernel_hangs() {
  Simulation& a = session_.lane.simulation();
  if (a.look_for_hang() || !session_.second) return a.loss() && a.loss()->hangs;
  Simulation& b = session_.second->simulation();
  if (!b.look_for_hang()) return false;
  a.share_loss(*b.loss());
  return true;
}

/// If a kernel hangs, starts the next program immediately. Nothing may call the device any more, not even a destructor.
/// Runs on the frames' thread or on the rescue's: OpenGL waits for a kernel whose bodies it draws.
void Viewer::leave_hanging_kernel() {
  if (!kernel_hangs()) return;
  const DeviceLoss& loss = *session_.lane.simulation().loss();
  const std::string what = words_of(loss, name_of(*loss.kernel));
  if (session_.lockstep || !next_program_) session_.rescue.end_program(what, 1);
  const bool closed = quit_ || session_.surface->close_requested();
  std::filesystem::path folder;
  std::string why;
  try {
    folder = new_folder();
    session_.ends_at_once = true;
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

/// Writes everything that the next program needs to `folder`.
void Viewer::hand_over(const std::filesystem::path& folder, const DeviceLoss& loss) {
  const bool needs_jerks = find_integrator(session_.lane.status().integrator_id).needs_jerks;
  const KernelPtr kernel = loss.good ? loss.good : session_.backends.default_kernel(needs_jerks);
  RunCheckpoint checkpoint = checkpoint_of(session_.lane.simulation());
  checkpoint.setup.kernel_id = kernel->id;
  checkpoint.setup.settings = loss.good ? loss.good_settings.values() : Settings{*kernel}.values();
  checkpoint.setup.kernel_revision = 0;
  (void)write_run_checkpoint(Handover::checkpoint_in(folder).string(), checkpoint, Existing::replace);

  const std::string failed = name_of(*loss.kernel);
  const std::vector<std::string> left = left_behind();
  Handover next{
      .message = fmt::format("{}; {} goes on from step {} in a new window{}", words_of(loss, failed), name_of(*kernel),
                             checkpoint.step, left.empty() ? "" : fmt::format(", without {}", fmt::join(left, ", "))),
      .window = present_memory(loss.hangs ? seen_place_ : present_place()),
      .requests = present_look(loss),
      .picks = present_picks(),
      .camera = view_of(camera_.camera()),
      .recording = session_.lane.log().recording() ? std::optional{recording_asked_} : std::nullopt,
      .kernel = {},
      .workshop = {},
      .same_kernel = same_kernel(*kernel, *loss.kernel)};
  for (const auto& feature : features_) feature->hand_over(next, loss, *kernel);
  write_handover(folder, next);
  (void)read_handover(folder);  // tests that the next program can read it: if not, this window continues
}

/// Returns the things that the next window lacks. Exports results that are in no file yet.
std::vector<std::string> Viewer::left_behind() {
  std::vector<std::string> left;
  for (const auto& feature : features_) feature->add_left_behind(left);
  if (camera_.paths().unsaved()) left.emplace_back("the camera path");
  if (const std::int64_t rows = session_.lane.log().statistics().unwritten_results(); rows > 0) {
    try {
      carry_out(ExportResults{});
    } catch (const std::exception& error) {
      left.push_back(fmt::format("{} ({})", counted(rows, "result", "results"), failure_text(error)));
    }
  }
  return left;
}

/// Returns the requests that give a new window the state of this one, except what WindowMemory has.
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

/// Resumes the run of the handover, before the rest of the window is set up. If the device is still lost, the run
/// continues with a CPU kernel.
void Viewer::resume_handed_over() {
  FoundCheckpoint found = find_checkpoint(session_.options.resume_file);
  try {
    for (const auto& feature : features_) feature->take_over(*handover_);
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

/// Takes over the rest of the previous window. Call at the end of this window's start.
void Viewer::take_over() {
  if (stop_requested()) throw std::runtime_error(stopped_between);  // the folder stays
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

/// Takes over the camera. Call after the camera has framed the first bodies.
void Viewer::take_over_camera() {
  carry_out_requests(std::exchange(handover_->picks, {}));
  place(camera_.camera(), handover_->camera);
}

namespace {

namespace fs = std::filesystem;

std::string words_of_checkpoint(const fs::path& file) {
  try {
    const CheckpointSummary summary = summary_of_checkpoint(file.string());
    const SceneRequest& scene = summary.scene;
    return fmt::format("{}, {}, t = {:.4g}",
                       scene.file.empty() ? scene.scene : printable(fs::path{scene.file}.filename().string()),
                       counted(summary.bodies, "body", "bodies"), summary.time);
  } catch (const std::exception&) {
    return {};  // continuing the run reports the cause
  }
}

/// Waits for the lock, at most for `patience`. Returns none if another process held it all that time.
std::optional<Descriptor> lock_in_time(const fs::path& file, const std::function<void(const std::string&)>& say,
                                       std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds soon{500}, pause{20};
  const auto begin = std::chrono::steady_clock::now();
  for (bool said = false;;) {
    if (std::optional<Descriptor> lock = locked_file(file, false)) return lock;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= patience) return std::nullopt;
    if (!said && waited >= soon && say) {
      say(fmt::format("waits for another process, which holds '{}'", printable(file.string())));
      said = true;
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Autosave::Autosave(fs::path folder, double period_s, const std::function<void(const std::string&)>& say,
                   std::chrono::milliseconds patience)
    : folder_{std::move(folder)}, period_s_{period_s} {
  if (folder_.empty()) return;
  take_place(say, patience);
  if (!place_) return;
  std::error_code unknown;
  const fs::path last = file("last-run", *place_, ".checkpoint"), run = file("run", *place_, ".checkpoint");
  if (fs::exists(run, unknown)) {
    fs::rename(last, previous_name(last.string()), unknown);
    fs::rename(run, last, unknown);
  }
  last_run_written_ = fs::last_write_time(last, unknown);
  if (unknown) return;
  last_run_ = last;
  last_run_words_ = words_of_checkpoint(last);
}

fs::path Autosave::file(const char* stem, int place, const char* ending) const {
  const std::string number = place == 0 ? "" : '-' + std::to_string(place + 1);
  return folder_ / (stem + number + ending);
}

std::optional<fs::file_time_type> Autosave::written(int place) const {
  std::optional<fs::file_time_type> latest;
  for (const char* const stem : {"run", "last-run"}) {
    std::error_code missing;
    const fs::file_time_type time = fs::last_write_time(file(stem, place, ".checkpoint"), missing);
    if (!missing && (!latest || time > *latest)) latest = time;
  }
  return latest;
}

void Autosave::take_place(const std::function<void(const std::string&)>& say, std::chrono::milliseconds patience) {
  std::error_code later;  // ignored: writing reports it
  fs::create_directories(folder_, later);
  const fs::path lock = folder_ / "windows.lock";
  const std::optional<Descriptor> one_window_at_a_time = lock_in_time(lock, say, patience);
  if (!one_window_at_a_time) {
    failure_ = fmt::format("this window does not keep its run: another process holds '{}'", printable(lock.string()));
    return;
  }
  std::optional<fs::file_time_type> latest;
  for (int place = 0; place < most_places; ++place) {
    const std::optional<fs::file_time_type> time = written(place);
    if (place_ && (!time || (latest && *time <= *latest))) continue;
    std::optional<Descriptor> own = locked_file(file("run", place, ".lock"), false);
    if (!own) continue;
    latest = time;
    place_ = place;
    lock_ = std::move(*own);
  }
  if (!place_) failure_ = "this window does not keep its run: as many windows are open as can keep theirs";
}

std::optional<double> Autosave::last_run_age_s() const {
  if (!last_run_) return {};
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - last_run_written_).count();
}

bool Autosave::has_gone_on(const Simulation& simulation) const {
  return !simulation.status().non_finite && simulation.status().step != saved_step_;
}

void Autosave::write(const RunCheckpoint& checkpoint) {
  try {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
      throw std::runtime_error(fmt::format("no folder '{}' can be made: {}", folder_.string(), error.message()));
    keep_checkpoint(file("run", *place_, ".checkpoint").string(), checkpoint);
  } catch (const std::exception& error) {
    failure_ = std::string{"the run is not saved for the next window: "} + failure_text(error);
  }
}

std::string Autosave::follow(Simulation& simulation) {
  if (!keeps() || writing_) return {};
  std::string failure = std::exchange(failure_, {});
  if (!place_) return failure;
  const bool due = std::chrono::duration<double>(Clock::now() - saved_).count() >= period_s_;
  if (!due || !simulation.idle() || !has_gone_on(simulation)) return failure;
  saved_ = Clock::now();
  saved_step_ = simulation.status().step;
  auto checkpoint = std::make_shared<const RunCheckpoint>(checkpoint_of(simulation));
  writing_ = true;
  writer_ = start_thread([this, checkpoint] {
    write(*checkpoint);
    writing_ = false;
  });
  return failure;
}

std::string Autosave::finish(Simulation& simulation) {
  if (!keeps()) return {};
  if (writer_.joinable()) writer_.join();
  if (place_ && has_gone_on(simulation)) write(checkpoint_of(simulation));
  return std::exchange(failure_, {});
}
namespace {

// Viewer: memory of the last window, and the run that it continues.
/// Removes the theme, which is remembered separately, and the ends of the range, which suit only one scene.
render::Appearance for_any_scene(render::Appearance appearance) {
  appearance.theme = {};
  appearance.low = appearance.high = std::nullopt;
  return appearance;
}

}  // namespace

/// Returns the memory of the last window. Deterministic runs neither read nor write it.
WindowMemory Viewer::recalled(const ViewOptions& options, bool lockstep) {
  if (lockstep || options.fresh) return {};
  try {
    return read_window_memory(usual_memory_file());
  } catch (const std::exception& error) {
    console::complain(fmt::format("the window of the last session is not restored: {}", failure_text(error)));
    return {};
  }
}

/// Restores the panels. At the start there is no comparison, so the tab of the results replaces its tab.
void Viewer::restore(const WindowMemory& memory) {
  for (const auto& [id, open] : memory.sections) session_.panels.folds[id] = {open, true};
  if (memory.lab) carry_out(memory.lab->tab == "compare" ? ShowLab{"results"} : *memory.lab);
  if (memory.appearance) carry_out(*memory.appearance);
  if (memory.theme) carry_out(*memory.theme);
}

/// Saves the window's memory and its run. A failure does not change the exit status, because the run itself is
/// complete. A fresh start keeps the old memory.
void Viewer::remember() {
  if (session_.lockstep || session_.options.fresh) return;
  try {
    write_window_memory(usual_memory_file(), present_memory(present_place()));
  } catch (const std::exception& error) {
    console::complain(fmt::format("the window is not remembered: {}", failure_text(error)));
  }
  keep_run();
}

/// Saves the run, unless it was handed over. A failure does not change the exit status.
void Viewer::keep_run() {
  if (handed_over_) return;
  try {
    if (const std::string failure = autosave_.finish(session_.lane.simulation()); !failure.empty())
      session_.complain(failure);
  } catch (const std::exception& error) {
    console::complain(fmt::format("the run is not kept: {}", failure_text(error)));
  }
}

std::optional<WindowPlace> Viewer::present_place() {
  return session_.rescue.outside([this] { return session_.surface->place(); });
}

WindowMemory Viewer::present_memory(const std::optional<WindowPlace>& place) {
  WindowMemory memory;
  for (const auto& [id, fold] : session_.panels.folds) {
    if (fold.chosen) memory.sections.emplace(id, fold.open);
  }
  const LabState& lab = session_.panels.lab;
  if (lab.folded) memory.lab = ShowLab{*lab.folded ? std::nullopt : std::optional{lab.tab}};
  if (appearance_chosen_) memory.appearance = SetAppearance{for_any_scene(session_.view.appearance)};
  if (session_.view.appearance.theme != render::Theme::dark) memory.theme = SetTheme{session_.view.appearance.theme};
  memory.place = place;
  return memory;
}

/// Saves the run if due, and updates the offer to continue the last window's run.
void Viewer::follow_autosave() {
  if (const std::string failure = autosave_.follow(session_.lane.simulation()); !failure.empty())
    session_.complain(failure);
  session_.view.last_run_words = autosave_.last_run_words();
  session_.view.last_run_age_s = continued_ ? std::nullopt : autosave_.last_run_age_s();
}

void Viewer::carry_out(const ContinueLastRun&) {
  if (!autosave_.last_run()) throw std::runtime_error("there is no run of an earlier window to continue");
  session_.refuse_beside_comparison("the last run continues alone");
  resume(find_checkpoint(autosave_.last_run()->string()));
  autosave_.continued(session_.lane.status().step);
  continued_ = true;
}

void Viewer::resume(const FoundCheckpoint& found) {
  const RunCheckpoint& checkpoint = found.checkpoint;
  session_.lane.simulation().resume(checkpoint.setup, checkpoint.state, checkpoint.step, checkpoint.hermite);
  for (const auto& feature : features_) feature->resumed();
  follow_scene();  // before complain(), because commands would remove the note
  if (!found.note.empty()) session_.complain(found.note);
}

}  // namespace orrery
