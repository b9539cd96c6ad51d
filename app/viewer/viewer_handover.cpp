// How a window that has lost its device goes on in another process: a part of Viewer.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/source_draft.h"
#include "app/runs/run_checkpoint.h"
#include "app/viewer/handover.h"
#include "app/viewer/start_anew.h"
#include "app/viewer/viewer.h"
#include "compute/core/failure_text.h"
#include "compute/core/format_count.h"
#include "compute/core/stop_signal.h"
#include "compute/core/temporary_folder.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

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
  const std::optional<DeviceLoss>& loss = lane_.simulation().loss();
  if (lockstep_ || !next_program_ || !loss || std::exchange(loss_seen_, true)) return;
  if (handover_ && handover_->same_kernel && loss->good && same_kernel(*loss->good, *loss->kernel)) return;
  std::filesystem::path folder;
  try {
    folder = new_folder();
    hand_over(folder, *loss);
    next_program_->folder = folder;
    quit_ = handed_over_ = true;
    said_error_ = lane_.status().last_error;  // the next window says it in other words
  } catch (const std::exception& error) {
    if (!folder.empty()) remove_handover(folder);
    complain(fmt::format("{}; the window cannot start again: {}", lane_.status().last_error, failure_text(error)));
  }
}

/// In A or in B, which share the device.
bool Viewer::kernel_hangs() {
  Simulation& a = lane_.simulation();
  if (a.look_for_hang() || !second_.active()) return a.loss() && a.loss()->hangs;
  Simulation& b = second_.lane().simulation();
  if (!b.look_for_hang()) return false;
  a.share_loss(*b.loss());
  return true;
}

/// If the kernel hangs: the next program takes over at once. Nothing of the device may be called any more, no
/// destructor either. On the thread of the frames, or on that of the rescue: OpenGL waits for a kernel whose bodies it
/// draws.
void Viewer::leave_hanging_kernel() {
  if (!kernel_hangs()) return;
  const DeviceLoss& loss = *lane_.simulation().loss();
  const std::string what = words_of(loss, workshop_.name_of(*loss.kernel));
  if (lockstep_ || !next_program_) rescue_.end_program(what, 1);
  const bool closed = quit_ || surface_->close_requested();
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
  rescue_.end_program(fmt::format("{}; {}", what, why), stop_requested() ? stop_status() : 1);
}

/// Writes all that the next program needs into `folder`.
void Viewer::hand_over(const std::filesystem::path& folder, const DeviceLoss& loss) {
  const bool needs_jerks = find_integrator(lane_.status().integrator_id).needs_jerks;
  const KernelPtr kernel = loss.good ? loss.good : backends_.default_kernel(needs_jerks);
  RunCheckpoint checkpoint = checkpoint_of(lane_.simulation());
  checkpoint.setup.kernel_id = kernel->id;
  checkpoint.setup.settings = loss.good ? loss.good_settings.values() : Settings{*kernel}.values();
  checkpoint.setup.kernel_revision = 0;
  (void)write_run_checkpoint(Handover::checkpoint_in(folder).string(), checkpoint, Existing::replace);

  const std::string failed = workshop_.name_of(*loss.kernel);
  const std::vector<std::string> left = left_behind(loss.hangs);
  Handover next{
      .message = fmt::format("{}; {} goes on from step {} in a new window{}", words_of(loss, failed),
                             workshop_.name_of(*kernel), checkpoint.step,
                             left.empty() ? "" : fmt::format(", without {}", fmt::join(left, ", "))),
      .window = present_memory(loss.hangs ? seen_place_ : present_place()),
      .requests = present_look(loss),
      .picks = present_picks(),
      .camera = view_of(camera_),
      .recording = lane_.log().recording() ? std::optional{recording_asked_} : std::nullopt,
      .kernel = {},
      .workshop = workshop_.history_without(
          *loss.kernel, (loss.hangs ? "it hangs in the shown run: " : "the device failed with it: ") + loss.cause),
      .same_kernel = same_kernel(*kernel, *loss.kernel)};
  if (kernel->file_text) next.kernel = {workshop_.file_of(*kernel), kernel->file_text, kernel->file_version};
  write_handover(folder, next);
  (void)read_handover(folder);  // whatever the next program cannot read is an error of this one, which can go on
}

/// What the next window does not have. Exports the results that are in no file yet. `at_once`: this program ends
/// without finishing a film, whose file appears at its end.
std::vector<std::string> Viewer::left_behind(bool at_once) {
  std::vector<std::string> left;
  if (second_.active()) left.emplace_back("the comparison");
  if (view_.sweep.active) left.emplace_back("the rest of the sweep");
  if (view_.race.active) left.emplace_back("the rest of the race");
  if (view_.lesson.shown && !view_.lesson.listed) left.emplace_back("the lesson");
  if (live_film_) left.push_back(fmt::format("{}the film {}", at_once ? "" : "the rest of ", live_film_->file()));
  if (paths_.unsaved()) left.emplace_back("the camera path");
  for (const auto& [file, draft] : panel_state_.lab.workshop.sources) {
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
  requests.emplace_back(SetAccuracy{lane_.status().accuracy});
  requests.emplace_back(SetStepsPerFrame{lane_.status().steps_per_frame});
  requests.emplace_back(SetPaused{!loss.ran});
  if (appearance_chosen_) requests.emplace_back(SetAppearance{view_.appearance});
  const Overlays& overlays = view_.overlays;
  requests.emplace_back(overlays.trails);
  requests.emplace_back(overlays.vectors);
  requests.emplace_back(overlays.cells);
  requests.emplace_back(overlays.walk);
  requests.emplace_back(overlays.axes);
  requests.emplace_back(ShowLegend{view_.legend_shown});
  const Diagnostics& diagnostics = view_.diagnostics;
  requests.emplace_back(SetDiagnostics{diagnostics.probe, diagnostics.sample, diagnostics.conserved_interval_s});
  requests.emplace_back(SetVsync{view_.vsync});
  if (view_.fullscreen) requests.emplace_back(ToggleFullscreen{});
  const bool panel = view_.presentation ? panel_before_presentation_ : view_.panel;
  if (panel != options_.panel) requests.emplace_back(TogglePanel{});
  if (view_.presentation) requests.emplace_back(SetPresentation{true});
  return requests;
}

Requests Viewer::present_picks() const {
  Requests picks;
  if (picker_.number()) picks.emplace_back(PickBody{*picker_.number()});
  if (follow_.active()) picks.emplace_back(follow_.what());
  return picks;
}

/// Of the handover: the run, before anything else is known of the window. Where the device is still lost, a CPU kernel
/// goes on.
void Viewer::resume_handed_over() {
  FoundCheckpoint found = find_checkpoint(options_.resume_file);
  try {
    workshop_.restore(*handover_);
    resume(found);
  } catch (const std::exception& error) {
    RunSetup& run = found.checkpoint.setup;
    const KernelPtr kernel = backends_.default_cpu_kernel(find_integrator(run.physics.integrator_id).needs_jerks);
    handover_->message +=
        fmt::format("; but {} cannot run: {}; {} goes on", run.kernel_id, failure_text(error), kernel->id);
    run.kernel_id = kernel->id;
    run.settings = {};
    resume(found);
  }
}

/// At the end of the window's start: what it takes over from the one before.
void Viewer::take_over() {
  if (stop_requested()) throw std::runtime_error(stopped_between);  // and leaves the folder
  carry_out_requests(handover_->requests);
  if (handover_->recording) {
    recording_asked_ = *handover_->recording;
    try {
      begin_next_recording();
    } catch (const std::exception& error) {
      failed_ = true;
      complain(failure_text(error));
    }
  }
  continued_ = true;
  remove_handover(options_.handover);
  complain(handover_->message);
}

/// The camera, once it has framed the first bodies.
void Viewer::take_over_camera() {
  carry_out_requests(std::exchange(handover_->picks, {}));
  place(camera_, handover_->camera);
}

}  // namespace orrery
