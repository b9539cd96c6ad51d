// The commands of the window's own parts: files, results, appearance, panels, the end. Also those of the features that
// these parts know: films, reports, replays.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/colours/body_colour.h"
#include "app/text/parse_value.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"
#include "render/appearance.h"

namespace orrery {

/// Continues the run that the last window saved; see Autosave.
struct ContinueLastRun {};

// File names: an empty name makes a new file in the folder orrery-out. Existing files are kept: the new file gets a
// number in its name.
struct StartRecording {
  std::string file;
};

struct StopRecording {};

/// Throws UsageError if the extension is not that of a picture.
inline void check_picture_name(const std::string& name) {
  (void)parse_picture_name("a picture's name", name);
}

/// Saves the window as it is.
struct SaveScreenshot {
  std::string file;
};

/// Redraws the window with more pixels and saves it.
struct SaveEnlarged {
  int times;  ///< factor of the width and height
  std::string file;

  static constexpr Range<int> sizes{1, 8};
};

/// Saves a picture of the bodies without panels, with its own size.
struct SavePicture {
  int width, height;  ///< in pixels
  std::string file;

  static constexpr Range<int> lengths{16, 8192, "pixels"};
};

/// Saves the bodies in the format of `file`'s extension.
struct SaveSnapshot {
  std::string file;
};

/// Saves the table of results as CSV.
struct ExportResults {
  std::string file;
};

struct ClearResults {};

/// Makes a row of ViewStatus::results, counted from 0, the baseline of all rows that are comparable() with it, in place
/// of their current baseline. If `pinned` is false, unpins the row.
struct PinResult {
  int row;
  bool pinned = true;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as shown to users, counted from 1
};

/// Returns to the run of a row of ViewStatus::results, counted from 0; see ReturnToRun.
struct ReturnToResult {
  int row;
};

/// Changes the given values and keeps the others.
struct SetDiagnostics {
  std::optional<bool> probe{};
  std::optional<int> sample{};  ///< see ProbeForces; 0: as many bodies as take at most 2 % of the time
  std::optional<double> conserved_interval_s{};

  static constexpr Range<double> intervals{0, 1e6, "s"};
};

// Commands that change what is shown in the window.
struct SetAppearance {
  render::Appearance appearance;

  static constexpr Range<int> colour_maps{0, render::colour_map_count - 1};
  static constexpr Range<float> scales{1e-4f, 1e4f};
  static constexpr Range<float> ends{-1e30f, 1e30f};  ///< ends of a fixed colour range
  static constexpr Range<float> exposure_slider{0.05f, 20}, size_slider{0.1f, 10};
};

/// Throws UsageError unless the fixed ends of the colour range fit together and fit the scale.
inline void check_colour_range(const render::Appearance& a) {
  if (a.high && !(*a.high > a.low.value_or(0))) {
    throw UsageError("appearance high cannot be " + shortest_text(*a.high) + "; it must be a number above " +
                     (a.low ? "low, which is " + shortest_text(*a.low) : std::string{"0"}));
  }
  if (a.scale == render::Scale::logarithmic && a.low && !(*a.low > 0)) {
    throw UsageError("appearance low cannot be " + shortest_text(*a.low) +
                     " on a logarithmic scale; it must be a number above 0");
  }
}

/// Shows the meaning of the picture's colours and lengths.
struct ShowLegend {
  bool on;
};

/// Direction in the list of kernels.
enum class Direction { forward, back };

/// Selects the next of `auto` and the kernels that can run here, cyclically. Skips kernels that are much too slow for
/// the current bodies.
struct SelectNextKernel {
  Direction direction = Direction::forward;
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

/// Returns the ids of the laboratory's tabs, from left to right.
inline std::span<const std::string_view> tab_ids() {
#define X(tab, id) std::string_view{id},
  static constexpr std::array ids{
#include "tabs_list.inc"
  };
#undef X
  return ids;
}

struct ShowLab {
  std::optional<std::string> tab;  ///< one of tab_ids(); empty: shows only the titles
};

template <>
struct EnumWords<Direction> {
  static constexpr std::array<std::pair<Direction, std::string_view>, 2> all() {
    return {{{Direction::forward, "forward"}, {Direction::back, "back"}}};
  }
};

template <>
inline constexpr bool has_words<const render::ColourBy*> = true;

template <>
struct EnumWords<const render::ColourBy*> {
  static std::vector<std::pair<const render::ColourBy*, std::string_view>> all() {
    std::vector<std::pair<const render::ColourBy*, std::string_view>> words;
    for (const BodyColour* colour : body_colours()) words.emplace_back(colour->by, colour->id);
    return words;
  }
};

template <>
struct EnumWords<render::Scale> {
  static constexpr std::array<std::pair<render::Scale, std::string_view>, 3> all() {
    return {
        {{render::Scale::automatic, "auto"}, {render::Scale::linear, "linear"}, {render::Scale::logarithmic, "log"}}};
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

struct SetTheme {
  render::Theme theme = render::Theme::dark;
};

template <>
struct EnumWords<render::Theme> {
  static constexpr std::array<std::pair<render::Theme, std::string_view>, 2> all() {
    return {{{render::Theme::dark, "dark"}, {render::Theme::light, "light"}}};
  }
};

struct Quit {};
/// Quits if nothing would end or be lost. Otherwise shows ViewStatus::quit_question; a second AskToQuit quits.
struct AskToQuit {};
struct CancelQuit {};

/// Commands of the window that belong to no feature.
inline constexpr std::tuple window_commands{
    command_row<ContinueLastRun>("continue-last-run", "Continues the run of the last window."),
    command_row<StartRecording>(
        "record", "Starts recording frame timings as CSV.",
        Argument<&StartRecording::file>{{.name = "file", .optional = true, .form = Form::written_file}}),
    command_row<StopRecording>("stop-record", "Stops the recording."),
    command_row<SaveScreenshot>(
        "screenshot", "Saves the window as a picture, as PNG.",
        Argument<&SaveScreenshot::file>{
            {.name = "file", .optional = true, .form = Form::written_file, .check = check_picture_name}}),
    command_row<SaveEnlarged>(
        "enlarged-screenshot", "Saves the window as a picture that is so many times as wide and as high, as PNG.",
        Argument<&SaveEnlarged::times>{{.name = "times", .range = SaveEnlarged::sizes}},
        Argument<&SaveEnlarged::file>{
            {.name = "file", .optional = true, .form = Form::written_file, .check = check_picture_name}}),
    command_row<SavePicture>(
        "picture", "Saves a picture of the bodies alone, of this width and height, as PNG.",
        Argument<&SavePicture::width>{{.name = "width", .range = SavePicture::lengths}},
        Argument<&SavePicture::height>{{.name = "height", .range = SavePicture::lengths}},
        Argument<&SavePicture::file>{
            {.name = "file", .optional = true, .form = Form::written_file, .check = check_picture_name}}),
    command_row<SaveSnapshot>(
        "save", "Saves the bodies to a file.",
        Argument<&SaveSnapshot::file>{{.name = "file", .optional = true, .form = Form::written_file}}),
    command_row<ExportResults>(
        "export", "Writes the table of results as CSV.",
        Argument<&ExportResults::file>{{.name = "file", .optional = true, .form = Form::written_file}}),
    command_row<ClearResults>("clear-results", "Clears the table of results."),
    command_row<PinResult>("pin", "Makes a row of the results the baseline of speed-ups; off: unpins it.",
                           Argument<&PinResult::row>{{.name = "row", .range = PinResult::rows, .first = 1}},
                           Argument<&PinResult::pinned>{{.name = "pinned", .optional = true}})
        .also("unpin", "pin pinned=off"),
    command_row<ReturnToResult>("return", "Returns to the run of a row of the results.",
                                Argument<&ReturnToResult::row>{{.name = "row", .range = PinResult::rows, .first = 1}}),
    command_row<SetDiagnostics>(
        "diagnostics", "Sets what is measured while the system runs: the force error and the conserved quantities.",
        Argument<&SetDiagnostics::probe>{{.name = "probe", .optional = true}},
        Argument<&SetDiagnostics::sample>{
            {.name = "sample", .optional = true, .range = ProbeForces::range, .word = "auto"}},
        Argument<&SetDiagnostics::conserved_interval_s>{
            {.name = "conserved", .optional = true, .range = SetDiagnostics::intervals}})
        .also("probe", "diagnostics probe=")
        .also("conserved", "diagnostics conserved="),
    command_row<SetAppearance>(
        "appearance",
        "Sets how bodies are drawn; an argument that is left out gets its initial value. 'orrery help colours' lists "
        "the "
        "colours.",
        Argument<&SetAppearance::appearance, &render::Appearance::colour_by>{{.name = "colour", .optional = true}},
        Argument<&SetAppearance::appearance, &render::Appearance::colour_map>{
            {.name = "map",
             .optional = true,
             .range = SetAppearance::colour_maps,
             .word = "auto",
             .word_number = render::automatic_colour_map,
             .names = render::colour_map_ids}},
        Argument<&SetAppearance::appearance, &render::Appearance::scale>{{.name = "scale", .optional = true}},
        Argument<&SetAppearance::appearance, &render::Appearance::low>{
            {.name = "low", .optional = true, .range = SetAppearance::ends}},
        Argument<&SetAppearance::appearance, &render::Appearance::high>{
            {.name = "high", .optional = true, .range = SetAppearance::ends}},
        Argument<&SetAppearance::appearance, &render::Appearance::exposure>{
            {.name = "exposure", .optional = true, .range = SetAppearance::scales}},
        Argument<&SetAppearance::appearance, &render::Appearance::auto_exposure>{
            {.name = "auto-exposure", .optional = true}},
        Argument<&SetAppearance::appearance, &render::Appearance::sprite_scale>{
            {.name = "size", .optional = true, .range = SetAppearance::scales}},
        Argument<&SetAppearance::appearance, &render::Appearance::look>{{.name = "look", .optional = true}},
        Argument<&SetAppearance::appearance, &render::Appearance::drawing>{{.name = "drawing", .optional = true}}),
    command_row<ShowLegend>("legend", "Shows or hides the legend of colours and lengths.",
                            Argument<&ShowLegend::on>{{.name = "on"}}),
    command_row<SelectNextKernel>("next-kernel",
                                  "Selects the next kernel that keeps the bodies moving; auto is one of them.",
                                  Argument<&SelectNextKernel::direction>{{.name = "direction", .optional = true}})
        .also("previous-kernel", "next-kernel back"),
    command_row<SetVsync>("vsync", "Switches vertical synchronization on or off.",
                          Argument<&SetVsync::on>{{.name = "on"}}),
    command_row<ToggleFullscreen>("toggle-fullscreen", "Enters or leaves full screen."),
    command_row<TogglePanel>("toggle-panel", "Shows or hides the panel."),
    command_row<ToggleHelp>("toggle-help", "Shows or hides the list of keys."),
    command_row<SetPresentation>("presentation",
                                 "Shows a few numbers in large type instead of the panels, or the panels again.",
                                 Argument<&SetPresentation::on>{{.name = "on"}}),
    command_row<ShowLab>("lab", "Opens a tab of the laboratory; fold: shows only the titles of the tabs.",
                         Argument<&ShowLab::tab>{{.name = "tab", .word = "fold", .words = tab_ids}}),
    command_row<SetTheme>("theme", "Draws light on a dark ground, or ink on white for print.",
                          Argument<&SetTheme::theme>{{.name = "theme"}}),
    command_row<Quit>("quit", "Ends the run."),
    command_row<AskToQuit>("ask-to-quit", "Ends the run; asks first if something would be lost."),
    command_row<CancelQuit>("cancel-quit", "Closes the question whether to quit.")};

/// Throws UsageError if the extension is not that of a film.
inline void check_film_name(const std::string& name) {
  (void)parse_film_name("a film's name", name);
}

/// Films the window until StopFilm, with at most FilmOptions::fps pictures per second.
struct StartFilm {
  std::string file;
};

struct StopFilm {};

/// State of the film of the window.
struct FilmStatus {
  bool active = false;
  std::string file;
  std::int64_t pictures = 0;
};

/// Commands that film the window.
inline constexpr std::tuple film_commands{
    command_row<StartFilm>(
        "film", "Starts a film of the window, as MP4.",
        Argument<&StartFilm::file>{
            {.name = "file", .optional = true, .form = Form::written_file, .check = check_film_name}}),
    command_row<StopFilm>("stop-film", "Completes the film.")};

/// Throws UsageError if the extension is not that of a page.
inline void check_page_name(const std::string& name) {
  (void)parse_page_name("a page's name", name);
}

/// Writes a page with a picture of the view and the window's measurements.
struct SaveReport {
  std::string file;
};

/// Command that writes a page.
inline constexpr std::tuple report_commands{command_row<SaveReport>(
    "report", "Writes a page with the picture, the results, plots, the settings and the machine, as HTML.",
    Argument<&SaveReport::file>{
        {.name = "file", .optional = true, .form = Form::written_file, .check = check_page_name}})};

/// Saves a record of the run, from which it can be computed again; see Replay.
struct SaveReplay {
  std::string file;
};

/// Command that saves a replay.
inline constexpr std::tuple runs_commands{command_row<SaveReplay>(
    "save-replay", "Saves how the run went, for 'orrery replay', which computes it again.",
    Argument<&SaveReplay::file>{{.name = "file", .optional = true, .form = Form::written_file}})};

}  // namespace orrery
