// Viewer: how it carries out requests.
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
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/camera_control.h"
#include "app/window/next_kernel.h"
#include "app/window/viewer.h"
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

/// Returns a notice that a return can be undone; empty after other commands.
std::string return_notice(const Command& command, const Status& now) {
  if (std::holds_alternative<UndoReturn>(command)) {
    return fmt::format("back at step {} of {} with {}", now.step, now.scene_name, now.kernel_id);
  }
  if (!std::holds_alternative<ReturnToRun>(command)) return {};
  return fmt::format("returned to {} with {}; Ctrl+Z goes back", now.scene_name, now.kernel_id);
}

}  // namespace

void Viewer::carry_out_requests(const Requests& requests) {
  for (const Request& request : requests) {
    try {
      carry_out(request);
    } catch (const std::exception& error) {
      session_.complain(failure_text(error));
    }
  }
}

void Viewer::carry_out(const Request& request) {
  std::visit([this](const auto& command) { carry_out(command); }, request);
}

void Viewer::carry_out(const ViewCommand& command) {
  handlers_.carry_out(command);
}

void Viewer::carry_out(const Command& command) {
  if (needs_machine(command, session_.lane.status())) session_.refuse_beside_measurement();
  session_.lane.apply(command, session_.view.wanted_diagnostics());
  history_.took(command, session_.lane.simulation());
  pace_chosen_ |= std::holds_alternative<SetStepsPerFrame>(command);
  session_.view.notice = return_notice(command, session_.lane.status());
  follow_scene();
}

namespace {

/// Overlays of the bodies, each as the command that shows it. A direct sum has no cells.
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

/// Description of a picture for its file. It has no date: the same picture is the same file.
Json Viewer::description() {
  const Status& status = session_.lane.status();
  Json description = session_.surroundings();
  description.erase("date");
  description.update(simulation_metadata(status));
  description["step"] = status.step;
  description["time"] = session_.lane.drawn_time();
  description["kernel"] = status.kernel_id;
  description["settings"] = status.settings.to_string();
  description["look"] = word_of(session_.view.appearance.look);
  description["theme"] = word_of(session_.view.appearance.theme);
  description["exposure"] = {{"scale", decimal(session_.view.appearance.exposure)},
                             {"automatic", session_.view.appearance.auto_exposure}};
  description["size"] = decimal(session_.view.appearance.sprite_scale);
  description["overlays"] = overlays_json(session_.view.overlays, session_.view.legend);
  if (camera_.picker().number()) description["picked"] = *camera_.picker().number();
  if (camera_.follow().active()) description["following"] = command_json(ViewCommand{camera_.follow().what()});
  const Legend& legend = session_.view.legend;
  if (!legend.parts.empty()) {
    Json names = Json::array();
    for (const LegendPart& part : legend.parts) names.push_back(part.name);
    description["colours"] = {{"quantity", legend.quantity}, {"parts", names}};
  } else if (!legend.quantity.empty()) {
    description["colours"] = {
        {"quantity", legend.quantity},
        {"map",
         session_.view.colour_maps.at(static_cast<std::size_t>(render::shown_colour_map(session_.view.appearance)))},
        {"logarithmic", legend.logarithmic}};
    if (legend.colours.empty()) {
      description["colours"]["unknown"] = legend.note;
    } else {
      description["colours"].update({{"low", decimal(legend.low)}, {"high", decimal(legend.high)}});
    }
    if (legend.known) description["colours"]["known"] = decimal(*legend.known);
  }
  for (const auto& feature : features_) feature->describe_picture(description);
  description["camera"] = {
      {"target", {camera_.camera().target().x, camera_.camera().target().y, camera_.camera().target().z}},
      {"distance", decimal(camera_.camera().distance())},
      {"azimuth", decimal(camera_.camera().azimuth())},
      {"elevation", decimal(camera_.camera().elevation())}};
  return description;
}

void Viewer::carry_out(const StartRecording& c) {
  session_.refuse_beside_comparison("a recording describes one run");
  recording_asked_ = c.file;
  start_recording(session_.output(c.file, recording_name));
}

void Viewer::start_recording(const Session::Output& to) {
  Json metadata = session_.surroundings();
  recording_header_ = simulation_metadata(session_.lane.status());
  metadata.update(recording_header_);
  session_.view.notice = "recording to " + session_.lane.log().start_recording(to.file, metadata, to.existing);
}

/// In a file of its own beside those before it.
void Viewer::begin_next_recording() {
  start_recording({session_.output(recording_asked_, recording_name).file, Existing::keep});
}

/// A header applies to all rows of its file, so a change of its values begins a new file. While a slider is dragged, no
/// row is written: each of its values would begin a file.
void Viewer::follow_recording() {
  if (!session_.lane.log().recording()) return;
  const bool other = simulation_metadata(session_.lane.status()) != recording_header_;
  session_.lane.log().hold_rows(other);
  if (!other) return;
  if (gui_.io().MouseDown[0]) return;
  try {
    carry_out(StopRecording{});
    const RecordingStatus old = session_.view.recording;
    std::error_code ignored;  // then it stays as a file without rows
    const std::filesystem::file_status kind = std::filesystem::symlink_status(old.file, ignored);
    if (old.rows == 0 && std::filesystem::is_regular_file(kind)) std::filesystem::remove(old.file, ignored);
    begin_next_recording();
    session_.view.notice += ": the simulation has changed, and a file describes one";
  } catch (const std::exception& error) {
    if (session_.lockstep) throw;
    session_.failed = true;
    session_.complain(failure_text(error));
  }
}

void Viewer::carry_out(const StopRecording&) {
  if (!session_.lane.log().recording()) return;
  const std::string error = session_.lane.log().stop_recording();
  session_.lane.log().describe(session_.view, session_.lane.status());
  if (error.empty()) {
    session_.say_written(session_.view.recording.file);
    if (!session_.lane.log().conserved_file().empty()) session_.say_written(session_.lane.log().conserved_file());
  } else {
    session_.failed = true;
    session_.complain(error);
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
  const Session::Output to = session_.output(c.file, "results.csv");
  const std::vector<Result>& results = session_.lane.log().statistics().results();
  session_.say_written(write_results(to.file, session_.surroundings(), results, to.existing));
  exported_results_ = tried_by_hand();
}

void Viewer::carry_out(const ClearResults&) {
  session_.lane.log().statistics().clear_results();
  exported_results_ = 0;
}

void Viewer::carry_out(const PinResult& c) {
  session_.lane.log().statistics().pin(c.row, c.pinned);
}

void Viewer::carry_out(const ReturnToResult& c) {
  carry_out(Command{ReturnToRun{run_of(session_.lane.log().statistics().result(c.row))}});
}

void Viewer::carry_out(const SetDiagnostics& c) {
  Diagnostics& now = session_.view.diagnostics;
  now = {c.probe.value_or(now.probe), c.sample.value_or(now.sample),
         c.conserved_interval_s.value_or(now.conserved_interval_s), now.every_body};
}

/// A run that can be repeated goes by the estimate alone.
void Viewer::carry_out(const SelectNextKernel& c) {
  const std::vector<Result> measured = session_.lockstep ? std::vector<Result>{} : session_.view.results;
  const Status& now = session_.lane.status();
  const NextKernel next = next_kernel(now, session_.view, measured, c.direction);
  const std::string present = now.auto_choice ? auto_kernel : now.kernel_id;
  if (next.id != present) carry_out(Command{SelectKernel{next.id}});
  if (!next.slow.empty()) session_.view.notice = next.notice();
}

void Viewer::carry_out(const SetVsync& c) {
  session_.rescue.outside([&] { session_.surface->set_vsync(c.on); });
}

void Viewer::carry_out(const ToggleFullscreen&) {
  session_.rescue.outside([this] { session_.surface->toggle_fullscreen(); });
}

void Viewer::carry_out(const TogglePanel&) {
  session_.view.panel = !session_.view.panel;
}

void Viewer::carry_out(const ToggleHelp&) {
  session_.view.help = !session_.view.help;
}

void Viewer::carry_out(const SetPresentation& c) {
  // Its numbers are the panel's.
  if (c.on && !session_.view.presentation) panel_before_presentation_ = std::exchange(session_.view.panel, true);
  if (!c.on && session_.view.presentation) session_.view.panel = panel_before_presentation_;
  session_.view.presentation = c.on;
  session_.panels.lab.covered = 0;  // until the next frame measures it
}

void Viewer::carry_out(const ShowLab& c) {
  session_.panels.lab.folded = !c.tab;
  if (c.tab) session_.panels.lab.tab = *c.tab;
}

void Viewer::carry_out(const Quit&) {
  quit_ = true;
}

void Viewer::carry_out(const AskToQuit&) {
  const bool asked = !session_.view.quit_question.empty();
  if (!asked && !session_.lockstep) session_.view.quit_question = ended_by_quitting();
  quit_ = asked || session_.view.quit_question.empty();
}

void Viewer::carry_out(const CancelQuit&) {
  session_.view.quit_question.clear();
}

std::int64_t Viewer::tried_by_hand() const {
  return std::ranges::count(session_.lane.log().statistics().results(), false, &Result::swept);
}

/// A single result is only the present variant: nothing was compared.
std::int64_t Viewer::unwritten_results() const {
  const std::int64_t tried = tried_by_hand();
  return tried > 1 ? tried - exported_results_ : 0;
}

std::vector<std::string> Viewer::ended_by_quitting() const {
  std::vector<std::string> lines;
  if (session_.lane.log().recording())
    lines.push_back(fmt::format("The recording to {} ends.", session_.view.recording.file));
  if (films_.live()) lines.push_back(fmt::format("The film {} ends.", films_.live()->file()));
  for (const auto& feature : features_) feature->add_losses(lines);
  if (camera_.paths().unsaved()) lines.emplace_back("The camera path is not saved (F4 saves it).");
  if (const std::int64_t rows = unwritten_results(); rows > 0) {
    lines.push_back(fmt::format("{} not exported (F9 exports).", counted(rows, "result is", "results are")));
  }
  return lines;
}

void Viewer::save_snapshot(const std::string& asked, std::optional<ByteOrder> order) {
  const Session::Output to = session_.output(asked, "bodies.tipsy");
  if (is_checkpoint_name(to.file)) {
    session_.say_written(write_run_checkpoint(to.file, checkpoint_of(session_.lane.simulation()), to.existing));
    return;
  }
  const WrittenSnapshot written = write_snapshot(to.file, session_.lane.simulation().snapshot(), {order, to.existing});
  session_.say_written(written.file().string(), written.remark());
}

// Viewer: how it changes what is drawn.

void Viewer::carry_out(const SetAppearance& c) {
  check_colour_range(c.appearance);
  set_appearance(c.appearance);
  appearance_chosen_ = true;
}

void Viewer::carry_out(const SetTheme& c) {
  session_.view.appearance.theme = c.theme;
  gui_.set_theme(c.theme == render::Theme::light ? theme::Tone::light : theme::Tone::dark);
}

void Viewer::carry_out(const ShowTrails& c) {
  session_.view.overlays.trails = c;
}

void Viewer::carry_out(const ShowVectors& c) {
  session_.view.overlays.vectors = c;
}

void Viewer::carry_out(const ShowTreeCells& c) {
  session_.view.overlays.cells = c;
  if (c.on && !session_.lane.status().kernel->is_tree)
    session_.view.notice = "no cells are drawn: the kernel has no tree";
}

void Viewer::carry_out(const ShowWalk& c) {
  session_.view.overlays.walk = c;
  if (!c.on) return;
  if (!session_.lane.status().kernel->is_tree) session_.view.notice = "no walk is drawn: the kernel has no tree";
  if (!session_.view.picked) session_.view.notice = "the walk is drawn once a body is picked";
}

void Viewer::carry_out(const ShowAxes& c) {
  session_.view.overlays.axes = c;
}

void Viewer::carry_out(const ShowLegend& c) {
  session_.view.legend_shown = c.on;
}

void Viewer::follow_scene() {
  const SceneRequest& scene = session_.lane.status().scene;
  const std::string& name = scene.file.empty() ? scene.scene : scene.file;
  if (shown_scene_ == name) return;
  shown_scene_ = name;
  const SceneView view = scene_view(scene);
  camera_.camera().home(view.azimuth, view.elevation);
  camera_.camera().look_from(view.azimuth, view.elevation);
  if (!appearance_chosen_) set_appearance(view.appearance);
  if (!pace_chosen_ && session_.lane.status().steps_per_frame != view.steps_per_frame) {
    session_.lane.simulation().apply(SetStepsPerFrame{view.steps_per_frame});
  }
  if (session_.film) session_.film->hide_progress();  // which the notes would run into
  if (std::string notes = print_scene_notes(session_.lane.simulation()); !notes.empty())
    session_.view.notice = std::move(notes);
}

void Viewer::set_appearance(render::Appearance appearance) {
  appearance.theme = session_.view.appearance.theme;
  session_.view.appearance = appearance;
}

}  // namespace orrery
