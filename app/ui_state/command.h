#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/ui_state/lab_commands.h"
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
struct ViewCommands {
  using Variant =
      std::variant<StartRecording, StopRecording, StartFilm, StopFilm, SaveScreenshot, SaveEnlarged, SavePicture,
                   SaveSnapshot, SaveReplay, ExportResults, SaveReport, ClearResults, PinResult, ReturnToResult,
                   SetDiagnostics, StartSweep, StopSweep, StartRace, StopRace, ProfileKernel, CompareProfile,
                   CompareWith, SetCompareLayout, SelectNextKernel, SetAppearance, SetTheme, ShowTrails, ShowVectors,
                   ShowTreeCells, ShowWalk, ShowAxes, ShowLegend, SetVsync, ToggleFullscreen, TogglePanel, ToggleHelp,
                   SetPresentation, ShowLab, OrbitView, PanView, FlyView, ZoomView, LookFrom, PickAt, PickBody, Unpick,
                   Follow, FrameAll, ResetCamera, AddKeyFrame, ClearPath, SavePath, PlayPath, ShowLesson,
                   ShowLessonFile, CloseLesson, TurnLessonPage, SetLessonScene, PredictLesson, MeasureLesson,
                   OpenKernelFile, CloseKernelFile, CompileKernelFile, SaveKernelFile, NewKernelFile, BringKernelBack,
                   ContinueLastRun, Quit, AskToQuit, CancelQuit>;
};
extern template struct OneOf<ViewCommands>;
using ViewCommand = OneOf<ViewCommands>;

struct AllCommands {
  using Variant = std::variant<Command, ViewCommand>;
};
extern template struct OneOf<AllCommands>;
/// Panels, keys and scripts append them. The viewer carries them out in order at the start of the next frame.
struct Request : OneOf<AllCommands> {
  Request() = default;
  Request(Command command) : OneOf{std::move(command)} {}
  Request(ViewCommand command) : OneOf{std::move(command)} {}
  Request(AlternativeOf<Command::Variant> auto command) : OneOf{Command{std::move(command)}} {}
  Request(AlternativeOf<ViewCommand::Variant> auto command) : OneOf{ViewCommand{std::move(command)}} {}
};
using Requests = std::vector<Request>;

/// The command in `request` if it is an `A`; null otherwise.
template <AlternativeOf<Command::Variant> A>
const A* command_if(const Request& request) {
  const auto* command = std::get_if<Command>(&request);
  return command ? std::get_if<A>(command) : nullptr;
}
template <AlternativeOf<ViewCommand::Variant> A>
const A* command_if(const Request& request) {
  const auto* command = std::get_if<ViewCommand>(&request);
  return command ? std::get_if<A>(command) : nullptr;
}

}  // namespace orrery
