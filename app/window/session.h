#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/tuning/auto_chooser.h"
#include "app/panels/panel_state.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/command.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/status.h"
#include "app/ui_state/view_options.h"
#include "app/window/lane.h"
#include "app/window/position_bridge.h"
#include "app/window/rescue.h"
#include "app/window/window.h"
#include "compute/core/atomic_file.h"
#include "compute/sim/backends.h"
#include "compute/sim/simulation.h"
#include "render/gl/gl_objects.h"

namespace orrery {

/// State that the features of a running viewer share: the shown run, where it is drawn, what the panels read, and how
/// the user is told something.
struct Session {
  using Clock = std::chrono::steady_clock;

  /// Both must outlive this. A window opens at `place`, if the options do not say more. Throws UsageError or
  /// std::runtime_error.
  Session(KernelCatalog& kernels, const ViewOptions& options, const std::optional<WindowPlace>& place);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Whether each frame waits for its steps, so that the run can be repeated exactly.
  static bool runs_in_lockstep(const ViewOptions& options);

  /// Seconds of frame `of_frame` in a run that can be repeated, otherwise of the current frame. They only grow.
  double clock_s(std::int64_t of_frame) const;
  double clock_s() const { return clock_s(frame); }
  /// Framebuffer of the surface, asked outside of the run's thread: see Rescue::outside().
  render::Canvas canvas();

  /// Shows a notice in the window and on stdout.
  void say(const std::string& notice);
  void say_written(const std::string& file, const std::string& remark = {});
  /// Shows an error in the window and on stderr.
  void complain(const std::string& error);
  /// Prints the files that were written, and why others were not.
  void report_files(const std::vector<std::string>& files, const std::string& error);

  struct Output {
    std::string file;
    Existing existing;
  };
  /// `asked`, or if that is empty `name` in the folder for files that nobody named.
  Output output(const std::string& asked, const char* name) const;
  /// Metadata of a file besides the simulation's.
  Json surroundings();

  /// Throws UsageError while something is measured.
  void refuse_beside_measurement() const;
  /// Throws UsageError that begins with `what`, while a second run is beside the shown one.
  void refuse_beside_comparison(const std::string& what) const;
  /// Throws UsageError if `user`, such as "a race", cannot have the machine for itself now.
  void require_machine(const char* user) const;
  const char* way_to_end(const MachineUser& user) const;

  const ViewOptions& options;
  const bool lockstep;
  const double frame_s;  ///< a frame's time in runs that can be repeated
  // In this order: each uses those above, so it is destroyed before them.
  Rescue rescue;
  const std::unique_ptr<Surface> surface;
  KernelCatalog& kernels;
  const Backends backends;
  const Sharing sharing;
  AutoChooser chooser;
  Lane lane;
  std::unique_ptr<Lane> second;  ///< another run of the same bodies, beside the shown one; null: none

  // Functions of the viewer for features.
  std::function<void(const Request&)> carry_out;  ///< carries out a request; throws its refusal
  std::function<void()> leave_hanging_kernel;     ///< ends this program if a kernel hangs, before anything waits for it
  /// Calls `save` once this frame has been drawn, before it is presented.
  std::function<void(std::function<void()> save)> once_drawn;
  std::function<ReportPicture()> picture;  ///< of the view with its legend and without panels
  std::function<Json()> description;       ///< of what the picture shows, for its file
  std::function<CameraView()> camera;      ///< the one of the user

  ViewStatus view;  ///< of the last frame
  PanelState panels;
  std::int64_t frame = 0;
  Clock::time_point frame_begin = Clock::now();
  std::optional<render::Canvas> drawn_canvas;  ///< of the last frame
  std::array<StagePart, 2> stage;              ///< of the last picture: the part for the shown run, and for the second
  std::string said_error;                      ///< the last of Status::last_error that went to stderr
  bool failed = false;                         ///< an output was not written whole
  bool ends_at_once = false;                   ///< the program ends without WindowFeature::finish()
};

/// Pauses the shown simulation while something else is measured.
class ShownPause {
 public:
  void begin(Simulation& shown);
  /// The simulation continues if it ran before.
  void end(Simulation& shown);

 private:
  bool resume_ = false;
};

/// The law, its constants, the time step and the digits of the shown simulation, for another one.
std::vector<Command> shown_physics(const Status& shown);

/// Whether a command would run steps of the shown system or measure kernels: a measurement beside it would measure that
/// work, too.
bool needs_machine(const Command& command, const Status& shown);

}  // namespace orrery
