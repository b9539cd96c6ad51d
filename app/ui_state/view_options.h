#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/camera_path.h"
#include "app/ui_state/command.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"
#include "compute/kernels/kernel_sharing.h"
#include "compute/scenes/scene.h"
#include "compute/sim/command.h"
#include "compute/snapshots/snapshot_format.h"
#include "render/appearance.h"

namespace orrery {

/// One line of a script: a request at the start of a frame.
struct ScriptLine {
  /// Leaves room for a run of one more frame.
  static constexpr std::int64_t last_frame = std::numeric_limits<std::int64_t>::max() - 1;

  std::int64_t frame = 0;  ///< from 0 to last_frame
  Request request;
  int line = 0;  ///< its number in the file, from 1
};

/// Sorted by frame; lines of one frame keep their order.
using Script = std::vector<ScriptLine>;
using Commands = std::vector<Command>;

/// The options of `orrery view` and `orrery render`. All names and values have been checked.
struct ViewOptions {
  SceneRequest scene;
  Commands setup;                                       ///< for the new simulation, in this order
  Settings::Values settings;                            ///< of the default kernel; empty: `setup` names the kernel
  std::string kernel_file;                              ///< that the workshop opens; empty: none
  std::string resume_file;                              ///< a checkpoint to continue; scene and setup are its own
  std::string record_file, screenshot_file, save_file;  ///< empty: none
  Existing existing = Existing::keep;                   ///< for the files that the run writes
  std::optional<ByteOrder> save_order;                  ///< of save_file; empty: its format's usual one
  std::string script_file;                              ///< as given, for messages
  Script script;                                        ///< sorted by frame; the run reaches every line's frame
  std::optional<std::int64_t>
      frames;             ///< >= 1; none: until the window is closed. Offscreen there is always a number or a quit
  std::string path_file;  ///< as given, for messages
  std::optional<CameraPath> path;   ///< that the camera follows from the first frame on
  std::optional<FilmOptions> film;  ///< needs offscreen and frames
  std::optional<WindowSize> size;   ///< none: the default, times the display's scale
  bool fresh = false;               ///< restores nothing of the last session's window, and leaves what is kept of it
  bool offscreen = false;
  bool panel = true;
  bool legend = true;
  bool vsync = true;
  double autosave_s = 300;  ///< after which a window keeps its run; 0: never
  static constexpr Range<double> autosave_times{.least = 0, .most = 1e6};
  std::optional<render::Theme> theme;  ///< none: the last session's
  std::optional<int> device;           ///< the CUDA device to use
  std::optional<DeviceList> devices;   ///< several that divide the work, in its place
  std::filesystem::path handover;      ///< the folder of a Handover that the window takes over; empty: none
};

}  // namespace orrery
