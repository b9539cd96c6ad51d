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

/// Describes what a picture of the view shows.
std::string picture_words(const Status& status, const ViewStatus& view);

/// Owns all parts of a running viewer and runs its frame loop.
///
/// In a window, steps run asynchronously and frames never wait for them; refusals appear in the window. Offscreen, with
/// a script, or for a given number of frames, each frame waits for its steps, so that a run can be repeated exactly; a
/// refusal ends it.
class Viewer {
 public:
  /// Both must outlive this. Throws UsageError or std::runtime_error.
  Viewer(KernelCatalog& kernels, const ViewOptions& options);
  ~Viewer();

  /// Runs until the window is closed or the frames have run. Returns the exit status; throws as above. If a window has
  /// lost its device, it ends and `next_program` gets the folder of what the next one takes over; null: it stays. After
  /// a kernel that hangs, that one starts at once.
  int run(NextProgram* next_program = nullptr);
  /// Draws the first frames instead of a run, and returns their picture without panels.
  ReportPicture picture();

 private:
  friend class Handlers;  // which calls carry_out()
  using Clock = Session::Clock;

  struct Presented {  // a frame that lasts until the next one starts
    Clock::time_point begin;
    int steps;
    FrameTimes times;
  };
  struct WantedPicture {  // of this frame, once it is drawn
    std::function<void()> save;
    int script_line = 0;  // that asked for it; 0: none did
  };

  /// Tries everything and keeps the first failure.
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
  /// Carries out the requests of the last frame, then input: each press and click in order, see InputQueue.
  void take_input();
  void lay_out_unseen(const std::vector<KeyPress>& presses);
  /// Loads the first file that was dropped on the window as a scene.
  void load_dropped();
  void run_script();
  /// Shows another scene as scene_view() says.
  void follow_scene();
  /// Sets all of the appearance but the theme.
  void set_appearance(render::Appearance appearance);
  void follow_recording();
  void follow_simulation();
  /// Draws the frame, saves what was asked of it, and presents it.
  void show(double since_last_s, FrameTimes& times);
  void lay_out_panels();
  /// Draws the frame once more, as it is now, without input.
  void redraw();
  /// Redraws until the panels have the places and sizes that they keep.
  void settle();
  /// `covered`: by panels, see covered_by_panels().
  void draw_bodies(const render::Canvas& canvas, glm::vec3 covered);
  glm::vec3 covered_by_panels() const;
  void finish();

  bool wait_for_steps(Lane& lane);
  int advance(std::int64_t frame);
  bool next_steps_are_known() const;
  void take_timings();

  /// Runs a second run up to the time of the shown one. Returns false if the program ends instead.
  bool catch_up();

  bool wants_picture() const;
  bool is_complete_from(std::int64_t frame) const;
  bool is_complete() const;

  /// Writes every output that needs no OpenGL.
  void write_outputs(FirstFailure& failure);
  /// See Rescue::arm.
  std::string rescue_outputs();
  Rescue::Clock::duration patience() const;
  /// Prints the summary of a run that can be repeated.
  void print_summary();

  /// Carries out requests; refusals appear in the window and on stderr.
  void carry_out_requests(const Requests& requests);
  void carry_out(const Request& request);
  void carry_out(const Command& command);
  void carry_out(const ViewCommand& command);
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

  // In this order: each uses those above, so it is destroyed before them.
  std::optional<Handover> handover_;  // that this window takes over; none: it begins by itself
  const WindowMemory memory_;         // of the last session
  Session session_;
  Handlers handlers_;
  std::vector<std::unique_ptr<WindowFeature>> features_;
  Gui gui_;
  CameraFeature camera_;
  Autosave autosave_;

  std::string shown_scene_;         // id or file
  bool appearance_chosen_ = false;  // by the user: scenes keep it
  bool panel_before_presentation_ = true;
  bool pace_chosen_;  // the steps per frame, likewise
  Requests requests_;
  Status shown_;  // of the bodies that it shows; the status of the lane may be ahead
  std::size_t script_at_ = 0;
  std::vector<WantedPicture> pictures_wanted_;
  std::optional<int> steps_ahead_;  // of the next frame, if they have been started
  bool film_settled_ = false;       // panels have found their sizes in its first picture
  std::optional<Presented> presented_;
  std::string recording_asked_;  // the name as it was asked for
  Json recording_header_;        // the simulation's part of the current recording's header
  bool continued_ = false;       // the run of the last window
  NextProgram* next_program_ = nullptr;
  std::optional<WindowPlace> seen_place_;  // of the window, not long ago
  bool loss_seen_ = false, handed_over_ = false, took_over_camera_ = false;
  bool quit_ = false;
  int exit_status_ = 1;        // of the run
  double since_layout_s_ = 0;  // of the panels
  double title_age_s_ = 1e9;
};

}  // namespace orrery
