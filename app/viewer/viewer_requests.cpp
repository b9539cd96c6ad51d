// Viewer: how it carries out requests: the other half of Viewer.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "app/commands/command_text.h"
#include "app/lab/metadata.h"
#include "app/panels/kit/format.h"
#include "app/recording/output_file.h"
#include "app/runs/run_checkpoint.h"
#include "app/runs/simulation_run.h"
#include "app/text/console.h"
#include "app/text/printable.h"
#include "app/viewer/camera_control.h"
#include "app/viewer/next_kernel.h"
#include "app/viewer/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr const char* recording_name = "timings.csv";  // if the user gave no name

Json simulation_metadata(const Status& status) {
  Json metadata = Json::object();
  add_simulation(metadata, status);
  return metadata;
}

/// That a return can be undone; empty after other commands.
std::string return_notice(const Command& command, const Status& now) {
  if (std::holds_alternative<UndoReturn>(command)) {
    return fmt::format("back at step {} of {} with {}", now.step, now.scene_name, now.kernel_id);
  }
  if (!std::holds_alternative<ReturnToRun>(command)) return {};
  return fmt::format("returned to {} with {}; Ctrl+Z goes back", now.scene_name, now.kernel_id);
}

}  // namespace

Viewer::Output Viewer::output(const std::string& asked, const char* name) const {
  if (asked.empty()) return {new_output(name), Existing::keep};
  return {asked, options_.existing};
}

void Viewer::carry_out_requests(const Requests& requests) {
  for (const Request& request : requests) {
    try {
      carry_out(request);
    } catch (const std::exception& error) {
      complain(failure_text(error));
    }
  }
}

void Viewer::carry_out(const Request& request) {
  std::visit([this](const auto& command) { carry_out(command); }, request);
}

void Viewer::carry_out(const ViewCommand& command) {
  const auto carry_out_checked = [this](const auto& c) {
    check_arguments(c);
    carry_out(c);
  };
  std::visit(carry_out_checked, command);
}

void Viewer::carry_out(const Command& command) {
  if (needs_machine(command, lane_.status())) refuse_beside_measurement();
  lane_.apply(command, view_.wanted_diagnostics());
  history_.took(command, lane_.simulation());
  pace_chosen_ |= std::holds_alternative<SetStepsPerFrame>(command);
  view_.notice = return_notice(command, lane_.status());
  follow_scene();
}

Json Viewer::surroundings() {
  Json metadata = machine_metadata(backends_);
  metadata["gl_renderer"] = surface_->gl().renderer;
  const render::Canvas canvas = drawn_canvas_ ? *drawn_canvas_ : rescue_.outside([this] { return surface_->canvas(); });
  metadata["window"] = fmt::format("{}x{}", canvas.width, canvas.height);
  metadata["vsync"] = surface_->vsync();
  metadata["drawing"] = word_of(view_.drawn);
  return metadata;
}
namespace {

/// What is drawn over the bodies, each as the command that shows it. A direct sum has no cells.
Json overlays_json(const Overlays& overlays, const Legend& legend) {
  Json shown = Json::array();
  if (overlays.trails.of != TrailsOf::nobody) shown.push_back(command_json(ViewCommand{overlays.trails}));
  if (overlays.vectors.quantity != Vectors::none) shown.push_back(command_json(ViewCommand{overlays.vectors}));
  if (!legend.cells.name.empty()) shown.push_back(command_json(ViewCommand{overlays.cells}));
  if (!legend.walk.empty()) shown.push_back(command_json(ViewCommand{overlays.walk}));
  if (overlays.axes.on) shown.push_back(command_json(ViewCommand{overlays.axes}));
  return shown;
}

}  // namespace

/// What a picture shows, for its file. Without the date: the same picture is the same file.
Json Viewer::description() {
  const Status& status = lane_.status();
  Json description = surroundings();
  description.erase("date");
  description.update(simulation_metadata(status));
  description["step"] = status.step;
  description["time"] = lane_.drawn_time();
  description["kernel"] = status.kernel_id;
  description["settings"] = status.settings.to_string();
  description["look"] = word_of(view_.appearance.look);
  description["theme"] = word_of(view_.appearance.theme);
  description["exposure"] = {{"scale", decimal(view_.appearance.exposure)},
                             {"automatic", view_.appearance.auto_exposure}};
  description["size"] = decimal(view_.appearance.sprite_scale);
  description["overlays"] = overlays_json(view_.overlays, view_.legend);
  if (picker_.number()) description["picked"] = *picker_.number();
  if (follow_.active()) description["following"] = command_json(ViewCommand{follow_.what()});
  const Legend& legend = view_.legend;
  if (!legend.parts.empty()) {
    Json names = Json::array();
    for (const LegendPart& part : legend.parts) names.push_back(part.name);
    description["colours"] = {{"quantity", legend.quantity}, {"parts", names}};
  } else if (!legend.quantity.empty()) {
    description["colours"] = {
        {"quantity", legend.quantity},
        {"map", view_.colour_maps.at(static_cast<std::size_t>(render::shown_colour_map(view_.appearance)))},
        {"logarithmic", legend.logarithmic}};
    if (legend.colours.empty()) {
      description["colours"]["unknown"] = legend.note;
    } else {
      description["colours"].update({{"low", decimal(legend.low)}, {"high", decimal(legend.high)}});
    }
    if (legend.known) description["colours"]["known"] = decimal(*legend.known);
  }
  if (second_.active()) {
    description["compared_with"] = {{"kernel", second_.lane().status().kernel_id},
                                    {"settings", second_.lane().status().settings.to_string()},
                                    {"layout", word_of(view_.compare.layout)}};
  }
  description["camera"] = {{"target", {camera_.target().x, camera_.target().y, camera_.target().z}},
                           {"distance", decimal(camera_.distance())},
                           {"azimuth", decimal(camera_.azimuth())},
                           {"elevation", decimal(camera_.elevation())}};
  return description;
}

void Viewer::carry_out(const StartRecording& c) {
  refuse_while_comparing("a recording describes one run");
  recording_asked_ = c.file;
  start_recording(output(c.file, recording_name));
}

void Viewer::start_recording(const Output& to) {
  Json metadata = surroundings();
  recording_header_ = simulation_metadata(lane_.status());
  metadata.update(recording_header_);
  view_.notice = "recording to " + lane_.log().start_recording(to.file, metadata, to.existing);
}

/// In a file of its own beside those before it.
void Viewer::begin_next_recording() {
  start_recording({output(recording_asked_, recording_name).file, Existing::keep});
}

/// A header applies to all rows of its file, so a change of its values begins a new file. While a slider is dragged, no
/// row is written: each of its values would begin a file.
void Viewer::follow_recording() {
  if (!lane_.log().recording()) return;
  const bool other = simulation_metadata(lane_.status()) != recording_header_;
  lane_.log().hold_rows(other);
  if (!other) return;
  if (gui_.io().MouseDown[0]) return;
  try {
    carry_out(StopRecording{});
    const RecordingStatus old = view_.recording;
    std::error_code ignored;  // then it stays as a file without rows
    const std::filesystem::file_status kind = std::filesystem::symlink_status(old.file, ignored);
    if (old.rows == 0 && std::filesystem::is_regular_file(kind)) std::filesystem::remove(old.file, ignored);
    begin_next_recording();
    view_.notice += ": the simulation has changed, and a file describes one";
  } catch (const std::exception& error) {
    if (lockstep_) throw;
    failed_ = true;
    complain(failure_text(error));
  }
}

void Viewer::carry_out(const StopRecording&) {
  if (!lane_.log().recording()) return;
  const std::string error = lane_.log().stop_recording();
  lane_.log().describe(view_, lane_.status());
  if (error.empty()) {
    say_written(view_.recording.file);
    if (!lane_.log().conserved_file().empty()) say_written(lane_.log().conserved_file());
  } else {
    failed_ = true;
    complain(error);
  }
}

void Viewer::carry_out(const SaveScreenshot& c) {
  pictures_wanted_.push_back({[this, c] { save_picture(c.file, [this] { return picture_of_window(); }); }});
}

void Viewer::carry_out(const SaveEnlarged& c) {
  pictures_wanted_.push_back({[this, c] { save_picture(c.file, [this, c] { return picture_of_window(c.times); }); }});
}

void Viewer::carry_out(const SavePicture& c) {
  pictures_wanted_.push_back(
      {[this, c] { save_picture(c.file, [this, c] { return picture_of_bodies(c.width, c.height); }); }});
}

void Viewer::carry_out(const SaveSnapshot& c) {
  save_snapshot(c.file, {});
}

void Viewer::carry_out(const ExportResults& c) {
  const Output to = output(c.file, "results.csv");
  const std::vector<Result>& results = lane_.log().statistics().results();
  say_written(write_results(to.file, surroundings(), results, to.existing));
  exported_results_ = tried_by_hand();
}

void Viewer::carry_out(const ClearResults&) {
  lane_.log().statistics().clear_results();
  exported_results_ = 0;
}

void Viewer::carry_out(const PinResult& c) {
  lane_.log().statistics().pin(c.row, c.pinned);
}

void Viewer::carry_out(const ReturnToResult& c) {
  carry_out(Command{ReturnToRun{run_of(lane_.log().statistics().result(c.row))}});
}

void Viewer::carry_out(const SetDiagnostics& c) {
  Diagnostics& now = view_.diagnostics;
  now = {c.probe.value_or(now.probe), c.sample.value_or(now.sample),
         c.conserved_interval_s.value_or(now.conserved_interval_s), now.every_body};
}

/// A run that can be repeated goes by the estimate alone.
void Viewer::carry_out(const SelectNextKernel& c) {
  const std::vector<Result> measured = lockstep_ ? std::vector<Result>{} : view_.results;
  const Status& now = lane_.status();
  const NextKernel next = next_kernel(now, view_, measured, c.direction);
  const std::string present = now.auto_choice ? auto_kernel : now.kernel_id;
  if (next.id != present) carry_out(Command{SelectKernel{next.id}});
  if (!next.slow.empty()) view_.notice = next.notice();
}

void Viewer::carry_out(const SetVsync& c) {
  rescue_.outside([&] { surface_->set_vsync(c.on); });
}

void Viewer::carry_out(const ToggleFullscreen&) {
  rescue_.outside([this] { surface_->toggle_fullscreen(); });
}

void Viewer::carry_out(const TogglePanel&) {
  view_.panel = !view_.panel;
}

void Viewer::carry_out(const ToggleHelp&) {
  view_.help = !view_.help;
}

void Viewer::carry_out(const SetPresentation& c) {
  // Its numbers are the panel's.
  if (c.on && !view_.presentation) panel_before_presentation_ = std::exchange(view_.panel, true);
  if (!c.on && view_.presentation) view_.panel = panel_before_presentation_;
  view_.presentation = c.on;
  panel_state_.lab.covered = 0;  // until the next frame measures it
}

void Viewer::carry_out(const ShowLab& c) {
  panel_state_.lab.folded = !c.tab;
  if (c.tab) panel_state_.lab.tab = *c.tab;
}

void Viewer::carry_out(const Quit&) {
  quit_ = true;
}

void Viewer::carry_out(const AskToQuit&) {
  const bool asked = !view_.quit_question.empty();
  if (!asked && !lockstep_) view_.quit_question = ended_by_quitting();
  quit_ = asked || view_.quit_question.empty();
}

void Viewer::carry_out(const CancelQuit&) {
  view_.quit_question.clear();
}

std::int64_t Viewer::tried_by_hand() const {
  return std::ranges::count(lane_.log().statistics().results(), false, &Result::swept);
}

/// A single result is only the present variant: nothing was compared.
std::int64_t Viewer::unwritten_results() const {
  const std::int64_t tried = tried_by_hand();
  return tried > 1 ? tried - exported_results_ : 0;
}

std::vector<std::string> Viewer::ended_by_quitting() const {
  std::vector<std::string> lines;
  if (lane_.log().recording()) lines.push_back(fmt::format("The recording to {} ends.", view_.recording.file));
  if (live_film_) lines.push_back(fmt::format("The film {} ends.", live_film_->file()));
  if (view_.sweep.active) lines.emplace_back("The sweep ends; what it has measured is kept.");
  if (view_.race.active) lines.emplace_back("The race ends; what it has measured is kept.");
  if (paths_.unsaved()) lines.emplace_back("The camera path is not saved (F4 saves it).");
  for (const auto& [file, draft] : panel_state_.lab.workshop.sources) {
    if (unsaved(draft)) lines.push_back(fmt::format("The edits of {} are not saved (Ctrl+S saves them).", file));
  }
  if (const std::int64_t rows = unwritten_results(); rows > 0) {
    lines.push_back(fmt::format("{} not exported (F9 exports).", counted(rows, "result is", "results are")));
  }
  return lines;
}

void Viewer::save_snapshot(const std::string& asked, std::optional<ByteOrder> order) {
  const Output to = output(asked, "bodies.tipsy");
  if (is_checkpoint_name(to.file)) {
    say_written(write_run_checkpoint(to.file, checkpoint_of(lane_.simulation()), to.existing));
    return;
  }
  const WrittenSnapshot written = write_snapshot(to.file, lane_.simulation().snapshot(), {order, to.existing});
  say_written(written.file().string(), written.remark());
}

void Viewer::say(const std::string& notice) {
  if (film_) film_->hide_progress();
  view_.notice = notice;
  console::print("{}\n", notice);
}

void Viewer::say_written(const std::string& file, const std::string& remark) {
  say("wrote " + printable(file) + (remark.empty() ? "" : "; " + remark));
}

/// The message stays in the window until a command succeeds.
void Viewer::complain(const std::string& error) {
  said_error_ = printable(error);
  if (film_) film_->hide_progress();
  lane_.simulation().report(said_error_);
  console::complain(said_error_);
}

// Viewer: how it changes what is drawn.

void Viewer::carry_out(const SetAppearance& c) {
  check_colour_range(c.appearance);
  set_appearance(c.appearance);
  appearance_chosen_ = true;
}

void Viewer::carry_out(const SetTheme& c) {
  view_.appearance.theme = c.theme;
  gui_.set_theme(c.theme == render::Theme::light ? theme::Tone::light : theme::Tone::dark);
}

void Viewer::carry_out(const ShowTrails& c) {
  view_.overlays.trails = c;
}

void Viewer::carry_out(const ShowVectors& c) {
  view_.overlays.vectors = c;
}

void Viewer::carry_out(const ShowTreeCells& c) {
  view_.overlays.cells = c;
  if (c.on && !lane_.status().kernel->is_tree) view_.notice = "no cells are drawn: the kernel has no tree";
}

void Viewer::carry_out(const ShowWalk& c) {
  view_.overlays.walk = c;
  if (!c.on) return;
  if (!lane_.status().kernel->is_tree) view_.notice = "no walk is drawn: the kernel has no tree";
  if (!view_.picked) view_.notice = "the walk is drawn once a body is picked";
}

void Viewer::carry_out(const ShowAxes& c) {
  view_.overlays.axes = c;
}

void Viewer::carry_out(const ShowLegend& c) {
  view_.legend_shown = c.on;
}

void Viewer::follow_scene() {
  const SceneRequest& scene = lane_.status().scene;
  const std::string& name = scene.file.empty() ? scene.scene : scene.file;
  if (shown_scene_ == name) return;
  shown_scene_ = name;
  const SceneView view = scene_view(scene);
  camera_.home(view.azimuth, view.elevation);
  camera_.look_from(view.azimuth, view.elevation);
  if (!appearance_chosen_) set_appearance(view.appearance);
  if (!pace_chosen_ && lane_.status().steps_per_frame != view.steps_per_frame) {
    lane_.simulation().apply(SetStepsPerFrame{view.steps_per_frame});
  }
  if (film_) film_->hide_progress();  // which the notes would run into
  if (std::string notes = print_scene_notes(lane_.simulation()); !notes.empty()) view_.notice = std::move(notes);
}

void Viewer::set_appearance(render::Appearance appearance) {
  appearance.theme = view_.appearance.theme;
  view_.appearance = appearance;
}

}  // namespace orrery
