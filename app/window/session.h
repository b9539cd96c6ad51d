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
#include "app/panels/panels.h"
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

/// State that the viewer's features share: the shown run, its surface, the panels' data, and messages for the user.
struct Session {
  using Clock = std::chrono::steady_clock;

  /// Opens the surface and creates the run. `kernels` and `options` must outlive this object. `place` is where a window
  /// opens unless the options override it. Throws UsageError or std::runtime_error.
  Session(KernelCatalog& kernels, const ViewOptions& options, const std::optional<WindowPlace>& place);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Returns whether each frame waits for its steps, so that the run is deterministic.
  static bool runs_in_lockstep(const ViewOptions& options);

  /// Returns the time in seconds, which never decreases: of frame `of_frame` in a deterministic run, otherwise of the
  /// current frame.
  double clock_s(std::int64_t of_frame) const;
  double clock_s() const { return clock_s(frame); }
  /// Returns the framebuffer of the surface. Asks the window system through Rescue::outside().
  render::Canvas canvas();

  /// Shows a notice in the window and on stdout.
  void say(const std::string& notice);
  void say_written(const std::string& file, const std::string& remark = {});
  /// Shows an error in the window and on stderr.
  void complain(const std::string& error);
  /// Reports the files that were written and, if `error` is not empty, why others were not.
  void report_files(const std::vector<std::string>& files, const std::string& error);

  struct Output {
    std::string file;
    Existing existing;
  };
  /// Returns the output file: `asked` or, if that is empty, `name` in the folder for files that the user did not name.
  Output output(const std::string& asked, const char* name) const;
  /// Returns metadata of the machine and the window for an output file.
  Json surroundings();

  /// Throws UsageError while a measurement runs.
  void refuse_beside_measurement() const;
  /// Throws UsageError that begins with `what` while a second run is shown.
  void refuse_beside_comparison(const std::string& what) const;
  /// Throws UsageError if `user`, such as "a race", cannot have the machine to itself now.
  void require_machine(const char* user) const;
  const char* way_to_end(const MachineUser& user) const;

  const ViewOptions& options;
  const bool lockstep;
  const double frame_s;  ///< duration of a frame in a deterministic run
  // The order matters: each member uses those above, so it is destroyed before them.
  Rescue rescue;
  const std::unique_ptr<Surface> surface;
  KernelCatalog& kernels;
  const Backends backends;
  const Sharing sharing;
  AutoChooser chooser;
  Lane lane;
  std::unique_ptr<Lane> second;  ///< another run of the same bodies, next to the shown one; null: none

  // Functions of the viewer for features.
  std::function<void(const Request&)> carry_out;  ///< carries out a request; throws if it is refused
  std::function<void()> leave_hanging_kernel;     ///< ends the program if a kernel hangs; call before waiting
  /// Arranges the call of `save` after this frame has been drawn, before it is presented.
  std::function<void(std::function<void()> save)> once_drawn;
  std::function<ReportPicture()> picture;  ///< returns a picture of the view with its legend and without panels
  std::function<Json()> description;       ///< returns the description of a picture for its file
  std::function<CameraView()> camera;      ///< returns the camera that the user set

  ViewStatus view;  ///< view of the last frame
  PanelState panels;
  std::int64_t frame = 0;
  Clock::time_point frame_begin = Clock::now();
  std::optional<render::Canvas> drawn_canvas;  ///< framebuffer of the last frame
  std::array<StagePart, 2> stage;              ///< parts of the last picture: for the shown run and for the second one
  std::string said_error;                      ///< latest Status::last_error that was printed to stderr
  bool failed = false;                         ///< an output was not written completely
  bool ends_at_once = false;                   ///< the program ends without WindowFeature::finish()
};

/// Pauses the shown simulation during a measurement.
class ShownPause {
 public:
  void begin(Simulation& shown);
  /// Resumes the simulation if it was running before.
  void end(Simulation& shown);

 private:
  bool resume_ = false;
};

/// Returns commands that give another simulation the shown one's law, constants, time step, eta and digits.
std::vector<Command> shown_physics(const Status& shown);

/// Returns whether a command would run steps of the shown system or measure kernels. A simultaneous measurement would
/// measure that work as well.
bool needs_machine(const Command& command, const Status& shown);

}  // namespace orrery
