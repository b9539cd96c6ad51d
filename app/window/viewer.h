#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/window_memory.h"
#include "app/recording/run_checkpoint.h"
#include "app/ui_state/command.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/status.h"
#include "app/ui_state/view_options.h"
#include "app/ui_state/window_commands.h"
#include "app/window/camera_control.h"
#include "app/window/gui.h"
#include "app/window/handover.h"
#include "app/window/lane.h"
#include "app/window/run_view.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/sim/backends.h"
#include "render/camera.h"
#include "render/image.h"

namespace orrery {

/// Returns a description in words of what a picture of the view shows.
std::string picture_words(const Status& status, const ViewStatus& view);

/// Owns all parts of a running viewer and runs its frame loop.
///
/// In a window, steps run asynchronously and frames never wait for them; refusals appear in the window. Offscreen, with
/// a script, or for a given number of frames, the run is deterministic: each frame waits for its steps, and a refusal
/// ends the run.
class Viewer {
 public:
  /// Sets up the viewer. `kernels` and `options` must outlive it. Throws UsageError or std::runtime_error.
  Viewer(KernelCatalog& kernels, const ViewOptions& options);
  ~Viewer();

  /// Runs until the window is closed or the frames have run, and returns the exit status. Throws what the constructor
  /// throws. After the loss of its device, a window ends, and `next_program` gets the folder with the state for the
  /// next program (null: the window stays). If a kernel hangs, the next program starts immediately.
  int run(NextProgram* next_program = nullptr);
  /// Draws the first frames instead of a run, and returns their picture without panels.
  ReportPicture picture();

 private:
  friend class Handlers;  // Handlers calls carry_out()
  using Clock = Session::Clock;

  struct Presented {  // a frame, which lasts until the next one starts
    Clock::time_point begin;
    int steps;
    FrameTimes times;
  };
  struct WantedPicture {  // picture of this frame, saved after drawing
    std::function<void()> save;
    int script_line = 0;  // script line that requested it; 0: none
  };

  /// Runs all attempts and keeps the first exception.
  class FirstFailure {
   public:
    template <class Attempt>
    void attempt(Attempt&& attempt) {
      try {
        attempt();
      } catch (...) {
        if (!first_) first_ = std::current_exception();
      }
    }
    void rethrow() const {
      if (first_) std::rethrow_exception(first_);
    }

   private:
    std::exception_ptr first_;
  };

  bool finished() const;
  void frame();
  void log_last_frame(Clock::time_point end);
  void poll_window();
  /// Carries out the requests of the last frame, then the input: presses and clicks in order, see InputQueue.
  void take_input();
  void lay_out_unseen(const std::vector<KeyPress>& presses);
  /// Loads the first file dropped on the window as a scene.
  void load_dropped();
  void run_script();
  /// If the scene changed, sets view, appearance and pace as scene_view() says.
  void follow_scene();
  /// Sets the appearance except the theme.
  void set_appearance(render::Appearance appearance);
  void follow_recording();
  void follow_simulation();
  /// Draws the frame, saves the pictures that were requested of it, and presents it.
  void show(double since_last_s, FrameTimes& times);
  void lay_out_panels();
  /// Draws the frame again in its current state, without input.
  void redraw();
  /// Redraws until the panels have their final places and sizes.
  void settle();
  /// Draws the bodies. `covered` as returned by covered_by_panels().
  void draw_bodies(const render::Canvas& canvas, glm::vec3 covered);
  glm::vec3 covered_by_panels() const;
  void finish();

  bool wait_for_steps(Lane& lane);
  int advance(std::int64_t frame);
  bool next_steps_are_known() const;
  void take_timings();

  /// Advances a second run to the time of the shown one. Returns false if the program ends instead.
  bool catch_up();

  bool wants_picture() const;
  bool is_complete_from(std::int64_t frame) const;
  bool is_complete() const;

  /// Writes every output that needs no OpenGL.
  void write_outputs(FirstFailure& failure);
  /// Writes the outputs for Rescue::arm().
  std::string rescue_outputs();
  Rescue::Clock::duration patience() const;
  /// Prints the summary of a deterministic run.
  void print_summary();

  /// Carries out requests. Refusals appear in the window and on stderr.
  void carry_out_requests(const Requests& requests);
  void carry_out(const Request& request);
  void carry_out(const Command& command);
  void carry_out(const StartRecording& c);
  void carry_out(const StopRecording&);
  void carry_out(const SaveScreenshot& c);
  void carry_out(const SaveEnlarged& c);
  void carry_out(const SavePicture& c);
  void carry_out(const SaveSnapshot& c);
  void carry_out(const ExportResults& c);
  void carry_out(const ClearResults&);
  void carry_out(const PinResult& c);
  void carry_out(const ReturnToResult& c);
  void carry_out(const SetDiagnostics& c);
  void carry_out(const SelectNextKernel& c);
  void carry_out(const SetAppearance& c);
  void carry_out(const SetTheme& c);
  void carry_out(const ShowTrails& c);
  void carry_out(const ShowVectors& c);
  void carry_out(const ShowTreeCells& c);
  void carry_out(const ShowWalk& c);
  void carry_out(const ShowAxes& c);
  void carry_out(const ShowLegend& c);
  void carry_out(const SetVsync& c);
  void carry_out(const ToggleFullscreen&);
  void carry_out(const TogglePanel&);
  void carry_out(const ToggleHelp&);
  void carry_out(const SetPresentation& c);
  void carry_out(const ShowLab& c);
  void carry_out(const Quit&);
  void carry_out(const AskToQuit&);
  void carry_out(const CancelQuit&);
  void carry_out(const ContinueLastRun&);

  void start_recording(const Session::Output& to);
  void begin_next_recording();
  Json description();
  /// Returns the lines of ViewStatus::quit_question.
  std::vector<std::string> ended_by_quitting() const;
  void save_pictures();
  void save_picture(const std::string& asked, const std::function<render::Image()>& take);
  render::Image picture_of_window(int times = 1);
  ReportPicture picture_without_panels();

  render::Image picture_of_bodies(int width, int height);
  render::Image drawn_picture(int width, int height, const std::function<void(const render::Canvas&)>& draw);
  /// Continues the run of a checkpoint.
  void resume(const FoundCheckpoint& found);
  void save_snapshot(const std::string& asked, std::optional<ByteOrder> order);

  void follow_device();
  bool kernel_hangs();
  void leave_hanging_kernel();
  std::string name_of(const KernelInfo& kernel) const;
  void hand_over(const std::filesystem::path& folder, const DeviceLoss& loss);
  std::vector<std::string> left_behind();
  Requests present_look(const DeviceLoss& loss) const;
  Requests present_picks() const;
  void resume_handed_over();
  void take_over();
  void take_over_camera();

  static WindowMemory recalled(const ViewOptions& options, bool lockstep);
  void restore(const WindowMemory& memory);
  void remember();
  void keep_run();
  WindowMemory present_memory(const std::optional<WindowPlace>& place);
  std::optional<WindowPlace> present_place();
  void follow_autosave();

  // The order matters: each member uses those above, so it is destroyed before them.
  std::optional<Handover> handover_;  // state that this window takes over; none: it starts on its own
  const WindowMemory memory_;         // memory of the last session
  Session session_;
  Handlers handlers_;
  std::vector<std::unique_ptr<WindowFeature>> features_;
  Gui gui_;
  CameraFeature camera_;
  Autosave autosave_;

  std::string shown_scene_;         // id or file of the shown scene
  bool appearance_chosen_ = false;  // the user set the appearance: scenes do not change it
  bool panel_before_presentation_ = true;
  bool pace_chosen_;  // the user set the steps per frame: scenes do not change them
  Requests requests_;
  Status shown_;  // status of the drawn bodies; the lane's may be ahead
  std::size_t script_at_ = 0;
  std::vector<WantedPicture> pictures_wanted_;
  std::optional<int> steps_ahead_;  // number of steps of the next frame, if they have started
  bool film_settled_ = false;       // panels have settled in the film's first picture
  std::optional<Presented> presented_;
  std::string recording_asked_;  // requested name of the recording
  Json recording_header_;        // the simulation's metadata in the current recording's header
  bool continued_ = false;       // the run of the last window was continued
  NextProgram* next_program_ = nullptr;
  std::optional<WindowPlace> seen_place_;  // recent place of the window
  bool loss_seen_ = false, handed_over_ = false, took_over_camera_ = false;
  bool quit_ = false;
  int exit_status_ = 1;        // exit status of the run
  double since_layout_s_ = 0;  // time since the last layout of the panels
  double title_age_s_ = 1e9;
};

}  // namespace orrery
