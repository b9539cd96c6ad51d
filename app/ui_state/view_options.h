#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/ui_state/script.h"
#include "app/ui_state/window_size.h"
#include "compute/core/output_name.h"
#include "compute/scenes/scene.h"
#include "compute/sim/command.h"
#include "compute/snapshots/tipsy.h"

namespace orrery {

using Commands = std::vector<Command>;

/// `orrery view`: every name and value in here has been checked.
struct ViewOptions {
  SceneRequest scene;
  Commands setup;             ///< what the options ask of the fresh simulation, in the order to apply
  Settings::Values settings;  ///< of the default kernel, which is selected then; empty: `setup` selects the kernel
  std::string record_file, screenshot_file, save_file;  ///< empty: none
  Existing existing = Existing::keep;                   ///< of files that the run is to write
  ByteOrder save_order = ByteOrder::big;
  std::string script_file;  ///< as given, for messages
  Script script;            ///< in the order of its frames; each line's frame is one that the run reaches
  std::optional<std::int64_t>
      frames;  ///< how many to run, >= 1; none: until closed. Offscreen always has one or a quit
  WindowSize size;
  bool offscreen = false;
  bool panel = true;
  bool vsync = true;
  std::optional<int> device;  ///< the CUDA device to use
};

}  // namespace orrery
