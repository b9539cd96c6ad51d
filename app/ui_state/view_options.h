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

/// A line of a script: a request at the start of a frame.
struct ScriptLine {
  /// Limited so that the number of frames, last_frame + 1, does not overflow.
  static constexpr std::int64_t last_frame = std::numeric_limits<std::int64_t>::max() - 1;

  std::int64_t frame = 0;  ///< from 0 to last_frame
  Request request;
  int line = 0;  ///< line number in the file, from 1
};

/// Lines sorted by frame; lines of the same frame keep their order.
using Script = std::vector<ScriptLine>;
using Commands = std::vector<Command>;

/// Options of `orrery view` and `orrery render`. All names and values have been checked.
struct ViewOptions {
  SceneRequest scene;
  Commands setup;             ///< commands for the new simulation, in order
  Settings::Values settings;  ///< settings of the default kernel; empty if `setup` selects the kernel
  std::string kernel_file;    ///< kernel file that the workshop opens; empty: none
  std::string resume_file;    ///< checkpoint to continue, with its own scene and setup; empty: none
  std::string record_file, screenshot_file, save_file;  ///< empty: none
  Existing existing = Existing::keep;                   ///< what to do with existing output files
  std::optional<ByteOrder> save_order;                  ///< byte order of save_file; empty: its format's usual one
  std::string script_file;                              ///< name as given, for messages
  Script script;                                        ///< sorted by frame; the run reaches the frame of every line
  std::optional<std::int64_t>
      frames;             ///< >= 1; none: until the window is closed; offscreen, there is always a number or a quit
  std::string path_file;  ///< name as given, for messages
  std::optional<CameraPath> path;   ///< path that the camera follows from the first frame
  std::optional<FilmOptions> film;  ///< only with offscreen and frames
  std::optional<WindowSize> size;   ///< none: default size times the display's scale
  bool fresh = false;               ///< ignore the state of the last session's window, and leave that state unchanged
  bool offscreen = false;
  bool panel = true;
  bool legend = true;
  bool vsync = true;
  double autosave_s = 300;  ///< interval at which a window saves its run, in s; 0: never
  static constexpr Range<double> autosave_times{.least = 0, .most = 1e6};
  std::optional<render::Theme> theme;  ///< none: the theme of the last session
  std::optional<int> device;           ///< index of the CUDA device
  std::optional<DeviceList> devices;   ///< several devices that share the work, instead of `device`
  std::filesystem::path handover;      ///< folder of a Handover that the window continues; empty: none
};

}  // namespace orrery
