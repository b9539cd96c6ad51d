// What the viewer does when it is asked: the other half of Viewer.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/lab/metadata.h"
#include "app/panels/kit/format.h"
#include "app/recording/new_output.h"
#include "app/text/console.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "app/viewer/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/snapshots/tipsy.h"
#include "render/image.h"

namespace orrery {
namespace {

constexpr const char* recording_name = "timings.csv";  // of a recording that nobody named

Json simulation_metadata(const Status& status) {
  Json metadata = Json::object();
  add_simulation(metadata, status);
  return metadata;
}

/// Says that a return can be undone; empty after other commands.
std::string return_notice(const Command& command, const Status& now) {
  if (std::holds_alternative<UndoReturn>(command)) {
    return fmt::format("back at step {} of {} with {}", now.step, now.scene_name, now.kernel_id);
  }
  if (!std::holds_alternative<ReturnToRun>(command)) return {};
  return fmt::format("returned to {} with {}; Ctrl+Z goes back", now.scene_name, now.kernel_id);
}

std::int64_t tried_by_hand(const std::vector<Result>& results) {
  return std::ranges::count(results, false, &Result::swept);
}

}  // namespace

Viewer::Output Viewer::output(const std::string& asked, const char* name) const {
  if (asked.empty()) return {new_output(name), Existing::keep};
  return {asked, options_.existing};
}

void Viewer::carry_out_requests() {
  for (const Request& request : std::exchange(requests_, {})) {
    try {
      carry_out(request);
    } catch (const std::exception& error) {
      complain(error.what());
    }
  }
}

void Viewer::carry_out(const Request& request) {
  std::visit([this](const auto& command) { carry_out(command); }, request);
}

void Viewer::carry_out(const ViewCommand& command) {
  std::visit([this](const auto& c) { carry_out(c); }, command);
}

void Viewer::carry_out(const Command& command) {
  if (view_.sweep.active) refuse_while_sweeping(command, simulation_.status());
  if (std::holds_alternative<StepOnce>(command)) {
    for (const Command& look : monitor_.with_step(simulation_.status(), view_.diagnostics)) simulation_.apply(look);
  }
  const SceneRequest scene = simulation_.status().scene;
  simulation_.apply(command);
  view_.notice = return_notice(command, simulation_.status());
  drawn_is_old_ = true;
  scene_is_new_ |= std::holds_alternative<LoadScene>(command) || simulation_.status().scene != scene;
}

Json Viewer::surroundings() {
  Json metadata = machine_metadata(backends_);
  metadata["gl_renderer"] = surface_->gl().renderer;
  const render::Canvas canvas = rescue_.outside([this] { return surface_->canvas(); });
  metadata["window"] = fmt::format("{}x{}", canvas.width, canvas.height);
  metadata["vsync"] = surface_->vsync();
  return metadata;
}

void Viewer::carry_out(const StartRecording& c) {
  recording_asked_ = c.file;
  start_recording(output(c.file, recording_name));
}

void Viewer::start_recording(const Output& to) {
  Json metadata = surroundings();
  recording_header_ = simulation_metadata(simulation_.status());
  metadata.update(recording_header_);
  view_.notice = "recording to " + log_.start_recording(to.file, metadata, to.existing);
}

/// A header holds for all rows of its file: where something has changed that it names, a new file begins. While a
/// slider is dragged no row is written, or each of its values would make a file.
void Viewer::follow_recording() {
  if (!log_.recording()) return;
  const bool other = simulation_metadata(simulation_.status()) != recording_header_;
  log_.hold_rows(other);
  if (!other) return;
  if (gui_.io().MouseDown[0]) return;
  try {
    carry_out(StopRecording{});
    const RecordingStatus old = view_.recording;
    std::error_code ignored;  // then it stays as a file without rows
    const std::filesystem::file_status kind = std::filesystem::symlink_status(old.file, ignored);
    if (old.rows == 0 && std::filesystem::is_regular_file(kind)) std::filesystem::remove(old.file, ignored);
    start_recording({output(recording_asked_, recording_name).file, Existing::keep});
    view_.notice += ": what the file before says of the simulation has changed";
  } catch (const std::exception& error) {
    if (lockstep_) throw;
    failed_ = true;
    complain(error.what());
  }
}

void Viewer::carry_out(const StopRecording&) {
  if (!log_.recording()) return;
  const std::string error = log_.stop_recording();
  log_.describe(view_, status_);
  if (error.empty()) {
    say_written(view_.recording.file);
    if (!log_.conserved_file().empty()) say_written(log_.conserved_file());
  } else {
    failed_ = true;
    complain(error);
  }
}

void Viewer::carry_out(const SaveScreenshot& c) {
  pictures_wanted_.push_back({.asked = parse_picture_name("a picture's name", c.file)});
}

void Viewer::carry_out(const SaveSnapshot& c) {
  save_snapshot(c.file, ByteOrder::big);
}

void Viewer::carry_out(const ExportResults& c) {
  const Output to = output(c.file, "results.csv");
  const std::vector<Result>& results = log_.statistics().results();
  say_written(write_results(to.file, surroundings(), results, to.existing));
  exported_results_ = tried_by_hand(results);
}

void Viewer::carry_out(const ClearResults&) {
  log_.statistics().clear_results();
  exported_results_ = 0;
}
void Viewer::carry_out(const PinResult& c) {
  log_.statistics().pin(c.row, c.pinned);
}
void Viewer::carry_out(const ReturnToResult& c) {
  carry_out(Command{ReturnToRun{run_of(log_.statistics().result(c.row))}});
}
void Viewer::carry_out(const SetDiagnostics& c) {
  Diagnostics& now = view_.diagnostics;
  now = {c.probe.value_or(now.probe), c.sample.value_or(now.sample),
         c.conserved_interval_s.value_or(now.conserved_interval_s)};
}

void Viewer::carry_out(const StartSweep& c) {
  sweep_.start(c, simulation_, view_.sweep);
  swept_taken_ = 0;
}

void Viewer::carry_out(const StopSweep&) {
  if (!sweep_.stop(simulation_, view_.sweep)) return;
  take_swept();
  tell_of_sweep();
}

void Viewer::tell_of_sweep() {
  for (const std::string& file : view_.sweep.files) say_written(file);
  if (view_.sweep.error.empty()) return;
  failed_ = true;
  complain(view_.sweep.error);
}

void Viewer::carry_out(const SetAppearance& c) {
  view_.appearance = c.appearance;
}
void Viewer::carry_out(const ShowTreeCells& c) {
  view_.tree_cells = c.on;
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
void Viewer::carry_out(const ShowLab& c) {
  panel_state_.lab.folded = !c.tab;
  if (c.tab) panel_state_.lab.tab = *c.tab;
}
void Viewer::carry_out(const ResetCamera&) {
  camera_.reset();
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

/// A single one is just what is on the screen: nothing has been compared.
std::int64_t Viewer::unwritten_results() const {
  const std::int64_t tried = tried_by_hand(view_.results);
  return tried > 1 ? tried - exported_results_ : 0;
}

std::vector<std::string> Viewer::ended_by_quitting() const {
  std::vector<std::string> lines;
  if (log_.recording()) lines.push_back(fmt::format("The recording to {} ends.", view_.recording.file));
  if (view_.sweep.active) lines.emplace_back("The sweep ends; what it has measured is kept.");
  if (const std::int64_t rows = unwritten_results(); rows > 0) {
    lines.push_back(
        fmt::format("{} {} not exported (F9 exports).", format_count(rows), rows == 1 ? "result is" : "results are"));
  }
  return lines;
}

void Viewer::carry_out(const FrameAll&) {
  const Framing now = framing_of(rescue_.outside([this] { return bridge_.read_drawn(); }));
  camera_.frame(now.centre, now.radius);
  panel_state_.lab.covered = 0;  // until the next frame measures it
}

/// After a frame has been drawn and before it is presented: the picture is what the user sees.
void Viewer::save_pictures() {
  for (const WantedPicture& wanted : std::exchange(pictures_wanted_, {})) {
    try {
      save_picture(wanted.asked);
    } catch (const std::exception& error) {
      if (!lockstep_) {
        complain(error.what());
      } else if (wanted.script_line > 0) {
        throw std::runtime_error(fmt::format("{}:{}: {}", options_.script_file, wanted.script_line, error.what()));
      } else {
        throw;
      }
    }
  }
}

void Viewer::save_picture(const std::string& asked) {
  const Output to = output(asked, "picture.png");
  const render::Canvas canvas = rescue_.outside([this] { return surface_->canvas(); });
  if (canvas.width < 1 || canvas.height < 1) {
    throw std::runtime_error(fmt::format("cannot save {}: the window has no area", to.file));
  }
  const auto read = [&] { return render::read_framebuffer(canvas.framebuffer, canvas.width, canvas.height); };
  say_written(write_file(to.file, render::encode_png(rescue_.outside(read)), to.existing));
}

void Viewer::save_snapshot(const std::string& asked, ByteOrder order) {
  const Bodies bodies = simulation_.bodies();  // may end a step under way, so the status comes after it
  const Status status = simulation_.status();
  const Output to = output(asked, "bodies.tipsy");
  say_written(
      write_tipsy(to.file, {.bodies = bodies, .time = status.sim_time}, status.law.softening, order, to.existing)
          .string());
}

void Viewer::say_written(const std::string& file) {
  view_.notice = "wrote " + printable(file);
  console::print("{}\n", view_.notice);
}

/// The message stays in the window until a command succeeds.
void Viewer::complain(const std::string& error) {
  said_error_ = printable(error);
  simulation_.report(said_error_);
  console::complain(said_error_);
}

}  // namespace orrery
