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
};  ///< the table of what has been tried, as CSV
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
/// What is given replaces what holds.
struct SetDiagnostics {
  std::optional<bool> probe{};
  std::optional<int> sample{};                   ///< one of probe_samples, or 0
  std::optional<double> conserved_interval_s{};  ///< finite, >= 0
};
/// Measures every value of the tunables named, one after the other, on a copy of the present system's first state.
struct StartSweep {
  std::vector<std::string> kernels;   ///< ids, or "all" alone: those that can run here; empty: the present one
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
/// Quits unless something would end or be lost that way: then ViewStatus::quit_question asks first. Asked again, it
/// quits.
struct AskToQuit {};
struct CancelQuit {};

/// What concerns the window and its files rather than the simulation.
using ViewCommand = std::variant<StartRecording, StopRecording, SaveScreenshot, SaveSnapshot, ExportResults,
                                 ClearResults, PinResult, ReturnToResult, SetDiagnostics, StartSweep, StopSweep,
                                 SetAppearance, ShowTreeCells, SetVsync, ToggleFullscreen, TogglePanel, ToggleHelp,
                                 ShowLab, FrameAll, ResetCamera, Quit, AskToQuit, CancelQuit>;

/// What panel, keys and scripts append; the viewer carries them out at the start of the next frame, in order.
using Request = std::variant<Command, ViewCommand>;
using Requests = std::vector<Request>;

}  // namespace orrery
