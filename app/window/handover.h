#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/camera_path/camera_path.h"
#include "app/commands/window_memory.h"
#include "app/ui_state/command.h"
#include "app/ui_state/kernel_history.h"

namespace orrery {
// After some errors a device does nothing more for this process. A window then starts this program anew in its own
// place, which goes on from the last good state of the bodies.

/// State that the old window leaves to the new one, beside the checkpoint of its run.
struct Handover {
  /// The text of a kernel file that becomes a kernel.
  struct Kernel {
    std::string file, text;
    int version = 1;
  };

  std::string message;  ///< what has happened, one line
  WindowMemory window;  ///< its place, and how its panels are
  Requests requests;    ///< for the new window, in this order
  Requests picks;       ///< once its bodies are drawn
  CameraView camera;
  std::optional<std::string> recording;   ///< the name that was asked for; none: nothing is recorded
  std::optional<Kernel> kernel;           ///< the checkpoint's, if it is from a file
  std::optional<KernelHistory> workshop;  ///< none: no file is open
  bool same_kernel = false;               ///< the checkpoint's kernel is the one that ran when the device was lost

  /// The checkpoint of the run in the folder of a handover.
  static std::filesystem::path checkpoint_in(const std::filesystem::path& folder) { return folder / "run.checkpoint"; }
};

/// Both throw std::runtime_error, one line.
void write_handover(const std::filesystem::path& folder, const Handover& handover);
Handover read_handover(const std::filesystem::path& folder);

/// Removes what the functions above and the old window wrote into `folder`, and the folder if it is empty then.
void remove_handover(const std::filesystem::path& folder);

}  // namespace orrery
