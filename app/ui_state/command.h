#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/text/parse_value.h"
#include "app/ui_state/lab_tab.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"
#include "render/appearance.h"

namespace orrery {

// An empty file name stands for a new file in the folder orrery-out. An existing file is kept: the new file gets a
// number in its name.
struct StartRecording {
  std::string file;
};
struct StopRecording {};
struct SaveScreenshot {
  std::string file;
};
/// The bodies, in the format that the ending of `file` names.
struct SaveSnapshot {
  std::string file;
};
/// The table of results, as CSV.
struct ExportResults {
  std::string file;
};
struct ClearResults {};
/// Makes a row of ViewStatus::results, counted from 0, the baseline of the rows that are comparable() with it, instead
/// of the present baseline; or unpins it.
struct PinResult {
  int row;
  bool pinned = true;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as users count them, from 1
};
/// ReturnToRun with a row of ViewStatus::results, counted from 0.
struct ReturnToResult {
  int row;
};
/// Changes the values that are given and keeps the others.
struct SetDiagnostics {
  std::optional<bool> probe{};
  std::optional<int> sample{};  ///< as ProbeForces, or 0: as many as take at most 2 % of the time
  std::optional<double> conserved_interval_s{};

  static constexpr Range<double> intervals{0, 1e6, "s"};
};
/// Measures every combination of the values of the tunables, one after the other, on copies of the first state of the
/// present scene.
struct StartSweep {
  std::vector<std::string> kernels;   ///< ids, or "all": all that can run here; empty: the present one
  std::vector<std::string> tunables;  ///< names; empty: settings as they are
  std::vector<int> counts;            ///< empty: the present number of bodies
};
struct StopSweep {};
struct SetAppearance {
  render::Appearance appearance;

  static constexpr Range<int> colour_maps{0, render::colour_map_count - 1};
  static constexpr Range<float> scales{0, std::numeric_limits<float>::infinity(), "", true};
  static constexpr Range<float> exposure_slider{0.05f, 20}, size_slider{0.1f, 10};
};
/// Draws the tree's cells as boxes over the bodies.
struct ShowTreeCells {
  bool on;
};
/// Shows what colours and lengths of the picture mean.
struct ShowLegend {
  bool on;
};
struct SetVsync {
  bool on;
};
struct ToggleFullscreen {};
struct TogglePanel {};
struct ToggleHelp {};
/// Shows a few numbers in large type instead of the panels, for an audience.
struct SetPresentation {
  bool on;

  static constexpr float type_scale = 1.6f;
};
struct ShowLab {
  std::optional<LabTab> tab;  ///< empty: shows only the titles of the tabs
};
/// Turns the camera about its target by `right` and `up`, in heights of the window: a full height is half a turn.
struct OrbitView {
  float right, up;

  static constexpr Range<float> drags{-1e3f, 1e3f, "heights of the window"};
};
/// Moves the target with the picture.
struct PanView {
  float right, up;
};
struct ZoomView {
  float notches;  ///< of the wheel; positive: nearer
  /// Keeps what is seen there in its place: shares of the window from its upper left corner. Without either, the
  /// middle.
  std::optional<float> x{}, y{};

  static constexpr Range<float> range{-1e3f, 1e3f, "wheel notches"};
};
/// Picks the body at a place of the picture, in shares of the window from its upper left corner; unpicks if there is
/// none.
struct PickAt {
  float x, y;

  static constexpr Range<float> shares{0, 1, "of the window"};
};
struct PickBody {
  int number;  ///< counted from 0

  static constexpr Range<int> numbers{0, std::numeric_limits<int>::max()};
};
struct Unpick {};
/// Moves the camera's target with the picked body.
struct FollowPicked {
  bool on = true;
};
/// Angles in radians: `azimuth` about z from the x axis, `elevation` over the xy plane.
struct LookFrom {
  float azimuth, elevation;

  static constexpr Range<float> azimuths{-6.2832f, 6.2832f, "radians"}, elevations{-1.5708f, 1.5708f, "radians"};
};
/// Adds the camera's view as a key frame to the path that is being made, after_s after the last one.
struct AddKeyFrame {
  double after_s = 2;

  static constexpr Range<double> intervals{0.001, 1e6, "s"};
};
struct ClearPath {};
struct SavePath {
  std::string file;
};
/// An empty name stands for the path that is being made.
struct PlayPath {
  std::string file;
};
struct FrameAll {};
struct ResetCamera {};
struct Quit {};
/// Quits, or asks first with ViewStatus::quit_question if something would end or be lost. The second time, it quits.
struct AskToQuit {};
struct CancelQuit {};

/// Throws UsageError if the extension is not that of a picture.
inline void check_picture_name(const std::string& name) {
  (void)parse_picture_name("a picture's name", name);
}

template <>
struct EnumWords<LabTab> {
  static constexpr auto all() {
    std::array<std::pair<LabTab, std::string_view>, lab_tabs.size()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = {lab_tabs[i].tab, lab_tabs[i].id};
    return words;
  }
};
template <>
struct EnumWords<render::ColourBy> {
  static constexpr std::array<std::pair<render::ColourBy, std::string_view>, 3> all() {
    return {{{render::ColourBy::speed, "speed"}, {render::ColourBy::mass, "mass"}, {render::ColourBy::none, "none"}}};
  }
};
template <>
struct EnumWords<render::Look> {
  static constexpr std::array<std::pair<render::Look, std::string_view>, 2> all() {
    return {{{render::Look::lights, "lights"}, {render::Look::density, "density"}}};
  }
};
template <>
struct EnumWords<render::Drawing> {
  static constexpr std::array<std::pair<render::Drawing, std::string_view>, 3> all() {
    return {{{render::Drawing::automatic, "auto"},
             {render::Drawing::sprites, "sprites"},
             {render::Drawing::splats, "splats"}}};
  }
};

/// THE table of what concerns the window and its files rather than the simulation, as `simulation_commands`.
inline constexpr std::tuple view_commands{
    command_row<StartRecording>("record", "Starts recording frame timings as CSV.",
                                Argument<&StartRecording::file>{.name = "file", .optional = true, .form = Form::file}),
    command_row<StopRecording>("stop-record", "Stops the recording."),
    command_row<SaveScreenshot>("screenshot", "Saves a picture as PNG.",
                                Argument<&SaveScreenshot::file>{
                                    .name = "file", .optional = true, .form = Form::file, .check = check_picture_name}),
    command_row<SaveSnapshot>("save", "Saves the bodies to a file.",
                              Argument<&SaveSnapshot::file>{.name = "file", .optional = true, .form = Form::file}),
    command_row<ExportResults>("export", "Writes the table of results as CSV.",
                               Argument<&ExportResults::file>{.name = "file", .optional = true, .form = Form::file}),
    command_row<ClearResults>("clear-results", "Clears the table of results."),
    command_row<PinResult>("pin", "Makes a row of the results the baseline of speed-ups; off: unpins it.",
                           Argument<&PinResult::row>{.name = "row", .range = PinResult::rows, .first = 1},
                           Argument<&PinResult::pinned>{.name = "pinned", .optional = true})
        .also("unpin", "pin pinned=off"),
    command_row<ReturnToResult>("return", "Returns to the run of a row of the results.",
                                Argument<&ReturnToResult::row>{.name = "row", .range = PinResult::rows, .first = 1}),
    command_row<SetDiagnostics>(
        "diagnostics", "Sets what is measured while the system runs: the force error and the conserved quantities.",
        Argument<&SetDiagnostics::probe>{.name = "probe", .optional = true},
        Argument<&SetDiagnostics::sample>{
            .name = "sample", .optional = true, .range = ProbeForces::range, .word = "auto"},
        Argument<&SetDiagnostics::conserved_interval_s>{
            .name = "conserved", .optional = true, .range = SetDiagnostics::intervals})
        .also("probe", "diagnostics probe=")
        .also("conserved", "diagnostics conserved="),
    command_row<StartSweep>(
        "sweep", "Measures every combination of the values of the given settings.",
        Argument<&StartSweep::tunables>{.name = "tunables", .optional = true},
        Argument<&StartSweep::counts>{.name = "n", .optional = true, .range = body_counts, .form = Form::count},
        Argument<&StartSweep::kernels>{.name = "kernels", .optional = true}),
    command_row<StopSweep>("stop-sweep", "Stops the sweep and keeps what was measured."),
    command_row<SetAppearance>(
        "appearance", "Sets how bodies are drawn; an argument that is left out gets its initial value.",
        Argument<&SetAppearance::appearance, &render::Appearance::colour_by>{.name = "colour", .optional = true},
        Argument<&SetAppearance::appearance, &render::Appearance::colour_map>{
            .name = "map", .optional = true, .range = SetAppearance::colour_maps},
        Argument<&SetAppearance::appearance, &render::Appearance::exposure>{
            .name = "exposure", .optional = true, .range = SetAppearance::scales},
        Argument<&SetAppearance::appearance, &render::Appearance::auto_exposure>{.name = "auto-exposure",
                                                                                 .optional = true},
        Argument<&SetAppearance::appearance, &render::Appearance::sprite_scale>{
            .name = "size", .optional = true, .range = SetAppearance::scales},
        Argument<&SetAppearance::appearance, &render::Appearance::look>{.name = "look", .optional = true},
        Argument<&SetAppearance::appearance, &render::Appearance::drawing>{.name = "drawing", .optional = true}),
    command_row<ShowTreeCells>("cells", "Shows or hides the cells of a tree as boxes.",
                               Argument<&ShowTreeCells::on>{.name = "on"}),
    command_row<ShowLegend>("legend", "Shows or hides the legend of colours and lengths.",
                            Argument<&ShowLegend::on>{.name = "on"}),
    command_row<SetVsync>("vsync", "Switches vertical synchronization on or off.",
                          Argument<&SetVsync::on>{.name = "on"}),
    command_row<ToggleFullscreen>("toggle-fullscreen", "Enters or leaves full screen."),
    command_row<TogglePanel>("toggle-panel", "Shows or hides the panel."),
    command_row<ToggleHelp>("toggle-help", "Shows or hides the list of keys."),
    command_row<SetPresentation>("presentation",
                                 "Shows a few numbers in large type instead of the panels, or the panels again.",
                                 Argument<&SetPresentation::on>{.name = "on"}),
    command_row<ShowLab>("lab", "Opens a tab of the laboratory; fold: shows only the titles of the tabs.",
                         Argument<&ShowLab::tab>{.name = "tab", .word = "fold"}),
    command_row<OrbitView>("orbit", "Turns the camera about its target; a full height is half a turn.",
                           Argument<&OrbitView::right>{.name = "right", .range = OrbitView::drags},
                           Argument<&OrbitView::up>{.name = "up", .range = OrbitView::drags}),
    command_row<PanView>("pan", "Moves the picture.",
                         Argument<&PanView::right>{.name = "right", .range = OrbitView::drags},
                         Argument<&PanView::up>{.name = "up", .range = OrbitView::drags}),
    command_row<ZoomView>("zoom", "Moves the camera nearer, or farther if negative.",
                          Argument<&ZoomView::notches>{.name = "notches", .range = ZoomView::range},
                          Argument<&ZoomView::x>{.name = "x", .optional = true, .range = PickAt::shares},
                          Argument<&ZoomView::y>{.name = "y", .optional = true, .range = PickAt::shares}),
    command_row<LookFrom>("look-from", "Sets the direction of the camera.",
                          Argument<&LookFrom::azimuth>{.name = "azimuth", .range = LookFrom::azimuths},
                          Argument<&LookFrom::elevation>{.name = "elevation", .range = LookFrom::elevations}),
    command_row<PickAt>("pick", "Picks the body at a place of the picture, from its upper left corner.",
                        Argument<&PickAt::x>{.name = "x", .range = PickAt::shares},
                        Argument<&PickAt::y>{.name = "y", .range = PickAt::shares}),
    command_row<PickBody>("pick-body", "Picks the body with this number, counted from 0.",
                          Argument<&PickBody::number>{.name = "number", .range = PickBody::numbers}),
    command_row<Unpick>("unpick", "Picks no body."),
    command_row<FollowPicked>("follow", "Moves the camera with the picked body; off: leaves it where it is.",
                              Argument<&FollowPicked::on>{.name = "on"}),
    command_row<FrameAll>("frame-all", "Moves the camera so that it shows all bodies."),
    command_row<ResetCamera>("reset-camera", "Returns the camera to its first view."),
    command_row<AddKeyFrame>(
        "add-key-frame", "Adds the camera's view to the camera path, SECONDS after the last one (2).",
        Argument<&AddKeyFrame::after_s>{.name = "seconds", .optional = true, .range = AddKeyFrame::intervals}),
    command_row<ClearPath>("clear-path", "Removes all key frames from the camera path."),
    command_row<SavePath>("save-path", "Saves the camera path.",
                          Argument<&SavePath::file>{.name = "file", .optional = true, .form = Form::file}),
    command_row<PlayPath>("play-path", "Moves the camera along the path in a file, or along the one that was made.",
                          Argument<&PlayPath::file>{.name = "file", .optional = true, .form = Form::file}),
    command_row<Quit>("quit", "Ends the run."),
    command_row<AskToQuit>("ask-to-quit", "Ends the run; asks first if something would be lost."),
    command_row<CancelQuit>("cancel-quit", "Closes the question whether to quit."),
};

using ViewCommand = VariantOf<decltype(view_commands)>;

/// The row of a command in its table.
template <class C>
constexpr const auto& row_of() {
  if constexpr (std::is_constructible_v<Command, C>) {
    return simulation_row<C>();
  } else {
    return std::get<row_index<C, decltype(view_commands)>()>(view_commands);
  }
}

/// Panels, keys and scripts append them. The viewer carries them out in order at the start of the next frame.
using Request = std::variant<Command, ViewCommand>;
using Requests = std::vector<Request>;

/// The request for a command of either table.
template <class C>
Request as_request(C command) {
  if constexpr (std::is_constructible_v<Command, C>) {
    return Command{std::move(command)};
  } else {
    return ViewCommand{std::move(command)};
  }
}

}  // namespace orrery
