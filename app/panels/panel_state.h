#pragma once

#include <string>
#include <vector>

#include "app/ui_state/lab_tab.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// The latest frame and batch of steps, held for a moment: numbers that change with every frame cannot be read.
struct HeldTimes {
  FrameTimes frame;
  StepTiming step;
  bool step_known = false, frame_known = false;
  double until = 0;  ///< in ImGui's time
};

/// A scene that is being put together; starts anew whenever another one is loaded.
struct SceneDraft {
  SceneRequest loaded;
  std::string scene;              ///< a generator's id; empty: the file that is loaded
  std::string count, seed, file;  ///< as typed
};

/// A sweep that is being put together.
struct SweepDraft {
  std::vector<std::string> tunables;  ///< every combination of their values; those of other kernels do not count
  bool every_kernel = false;          ///< instead, with the settings that each has at first
  std::string counts;                 ///< as typed; empty: the present number of bodies
};

struct LabState {
  LabTab tab = LabTab::results;
  bool folded = false;       ///< only the tabs' titles are shown
  float content_height = 0;  ///< of what the last frame showed, in pixels; 0: nothing yet
  float covered = 0;  ///< of the window's height, from the bottom, in pixels: the most since it was unfolded or framed
  int plotted_count = 0;  ///< bodies whose results stand out in the plot; 0: as many as there are
  SweepDraft sweep;
};

/// What the panels remember from frame to frame; one for every ImGui context.
struct PanelState {
  HeldTimes times;
  SceneDraft scene;
  LabState lab;
  std::string timings_file, picture_file, snapshot_file, results_file;
  std::string dismissed_error;
  std::string notice;
  double noticed_at = 0;  ///< in ImGui's time
};

}  // namespace orrery
