#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/ui_state/lab_tab.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"
#include "render/appearance.h"

namespace orrery {

// An empty file name stands for a new file in the folder orrery-out.
struct StartRecording {
  std::string file;
};  ///< an existing file is kept: a number is added to the name
struct StopRecording {};
struct SaveScreenshot {
  std::string file;
};
struct SaveSnapshot {
  std::string file;
};  ///< the bodies, as TIPSY
struct ExportResults {
  std::string file;
};  ///< the table of results, as CSV
struct ClearResults {};
/// Makes a row of ViewStatus::results, counted from 0, the baseline of the rows that are comparable() with it, in place
/// of another one; or ends that.
struct PinResult {
  int row;
  bool pinned = true;
};
/// ReturnToRun with a row of ViewStatus::results, counted from 0.
struct ReturnToResult {
  int row;
};
/// Changes the values that are given and keeps the others.
struct SetDiagnostics {
  std::optional<bool> probe{};
  std::optional<int> sample{};                   ///< one of probe_samples, or 0
  std::optional<double> conserved_interval_s{};  ///< finite, >= 0
};
/// Measures all values of these tunables, one after the other, on a copy of the present system's first state.
struct StartSweep {
  std::vector<std::string> kernels;   ///< ids; empty: the present one
  std::vector<std::string> tunables;  ///< names; all values of each are tried; empty: settings as they are
  std::vector<int> counts;            ///< empty: the present number of bodies
};
struct StopSweep {};
struct SetAppearance {
  render::Appearance appearance;
};
/// The tree's cells as boxes over the bodies.
struct ShowTreeCells {
  bool on;
};
struct SetVsync {
  bool on;
};
struct ToggleFullscreen {};
struct TogglePanel {};
struct ToggleHelp {};
struct ShowLab {
  std::optional<LabTab> tab;  ///< none: only the titles of its parts
};
struct FrameAll {};
struct ResetCamera {};
struct Quit {};
/// Quits, or asks first with ViewStatus::quit_question if something would end or be lost. The second time, it quits.
struct AskToQuit {};
struct CancelQuit {};

/// Commands for the window and its files, not for the simulation.
using ViewCommand = std::variant<StartRecording, StopRecording, SaveScreenshot, SaveSnapshot, ExportResults,
                                 ClearResults, PinResult, ReturnToResult, SetDiagnostics, StartSweep, StopSweep,
                                 SetAppearance, ShowTreeCells, SetVsync, ToggleFullscreen, TogglePanel, ToggleHelp,
                                 ShowLab, FrameAll, ResetCamera, Quit, AskToQuit, CancelQuit>;

/// Panels, keys and scripts append them. The viewer carries them out in order at the start of the next frame.
using Request = std::variant<Command, ViewCommand>;
using Requests = std::vector<Request>;

}  // namespace orrery
