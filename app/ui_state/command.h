#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlay_commands.h"
#include "app/ui_state/record_commands.h"
#include "app/ui_state/view_commands.h"
#include "compute/sim/command.h"

namespace orrery {

struct Quit {
  template <class = void>
  static constexpr auto describe() {
    return command_row<Quit>("quit", "Ends the run.");
  }
};
/// Quits, or asks first with ViewStatus::quit_question if something would end or be lost. The second time, it quits.
struct AskToQuit {
  template <class = void>
  static constexpr auto describe() {
    return command_row<AskToQuit>("ask-to-quit", "Ends the run; asks first if something would be lost.");
  }
};
struct CancelQuit {
  template <class = void>
  static constexpr auto describe() {
    return command_row<CancelQuit>("cancel-quit", "Closes the question whether to quit.");
  }
};

/// Every command of the window and of its files; beside `Command`.
using ViewCommand =
    std::variant<StartRecording, StopRecording, SaveScreenshot, SaveSnapshot, ExportResults, ClearResults, PinResult,
                 ReturnToResult, SetDiagnostics, StartSweep, StopSweep, SetAppearance, SetTheme, ShowTrails,
                 ShowVectors, ShowTreeCells, ShowWalk, ShowAxes, ShowLegend, SetVsync, ToggleFullscreen, TogglePanel,
                 ToggleHelp, SetPresentation, ShowLab, OrbitView, PanView, ZoomView, LookFrom, PickAt, PickBody, Unpick,
                 FollowPicked, FrameAll, ResetCamera, AddKeyFrame, ClearPath, SavePath, PlayPath, Quit, AskToQuit,
                 CancelQuit>;

/// Panels, keys and scripts append them. The viewer carries them out in order at the start of the next frame.
using Request = std::variant<Command, ViewCommand>;
using Requests = std::vector<Request>;

/// The request for a command of either kind.
template <class C>
Request as_request(C command) {
  if constexpr (std::is_constructible_v<Command, C>) {
    return Command{std::move(command)};
  } else {
    return ViewCommand{std::move(command)};
  }
}

}  // namespace orrery
