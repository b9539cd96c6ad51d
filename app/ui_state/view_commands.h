// Commands that change what the window shows: its parts, overlays, the camera and the picked body.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/colours/body_colour.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"
#include "render/appearance.h"

namespace orrery {

/// The parts of the laboratory.
enum class LabTab { results, speed_error, sweep, race, card, profile, conservation, compare, workshop };

struct LabTabInfo {
  LabTab tab;
  const char* id;  ///< what a script calls it
};

inline constexpr std::array lab_tabs{LabTabInfo{LabTab::results, "results"},
                                     LabTabInfo{LabTab::speed_error, "speed-error"},
                                     LabTabInfo{LabTab::sweep, "sweep"},
                                     LabTabInfo{LabTab::race, "race"},
                                     LabTabInfo{LabTab::card, "card"},
                                     LabTabInfo{LabTab::profile, "profile"},
                                     LabTabInfo{LabTab::conservation, "conservation"},
                                     LabTabInfo{LabTab::compare, "compare"},
                                     LabTabInfo{LabTab::workshop, "workshop"}};

// Commands that change what the window shows.
struct SetAppearance {
  render::Appearance appearance;

  static constexpr Range<int> colour_maps{0, render::colour_map_count - 1};
  static constexpr Range<float> scales{1e-4f, 1e4f};
  static constexpr Range<float> ends{-1e30f, 1e30f};  ///< of a fixed range of colours
  static constexpr Range<float> exposure_slider{0.05f, 20}, size_slider{0.1f, 10};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetAppearance>(
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
        Argument<&SetAppearance::appearance, &render::Appearance::drawing>{{.name = "drawing", .optional = true}});
  }
};

/// Throws UsageError unless the fixed ends of the range of colours go together and with the scale.
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

/// Shows what colours and lengths of the picture mean.
struct ShowLegend {
  bool on;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowLegend>("legend", "Shows or hides the legend of colours and lengths.",
                                   Argument<&ShowLegend::on>{{.name = "on"}});
  }
};

/// Along the list of kernels.
enum class Direction { forward, back };

/// Goes round through `auto` and the kernels that can run here, and passes over those that are much too slow for these
/// bodies.
struct SelectNextKernel {
  Direction direction = Direction::forward;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SelectNextKernel>(
               "next-kernel", "Selects the next kernel that keeps the bodies moving; auto is one of them.",
               Argument<&SelectNextKernel::direction>{{.name = "direction", .optional = true}})
        .also("previous-kernel", "next-kernel back");
  }
};

struct SetVsync {
  bool on;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetVsync>("vsync", "Switches vertical synchronization on or off.",
                                 Argument<&SetVsync::on>{{.name = "on"}});
  }
};

struct ToggleFullscreen {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ToggleFullscreen>("toggle-fullscreen", "Enters or leaves full screen.");
  }
};

struct TogglePanel {
  template <class = void>
  static constexpr auto describe() {
    return command_row<TogglePanel>("toggle-panel", "Shows or hides the panel.");
  }
};

struct ToggleHelp {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ToggleHelp>("toggle-help", "Shows or hides the list of keys.");
  }
};

/// Shows a few numbers in large type instead of the panels, for an audience.
struct SetPresentation {
  bool on;

  static constexpr float type_scale = 1.6f;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetPresentation>("presentation",
                                        "Shows a few numbers in large type instead of the panels, or the panels again.",
                                        Argument<&SetPresentation::on>{{.name = "on"}});
  }
};

struct ShowLab {
  std::optional<LabTab> tab;  ///< empty: shows only the titles of the tabs

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowLab>("lab", "Opens a tab of the laboratory; fold: shows only the titles of the tabs.",
                                Argument<&ShowLab::tab>{{.name = "tab", .word = "fold"}});
  }
};

template <>
struct EnumWords<Direction> {
  static constexpr std::array<std::pair<Direction, std::string_view>, 2> all() {
    return {{{Direction::forward, "forward"}, {Direction::back, "back"}}};
  }
};

template <>
struct EnumWords<LabTab> {
  static constexpr auto all() {
    std::array<std::pair<LabTab, std::string_view>, lab_tabs.size()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = {lab_tabs[i].tab, lab_tabs[i].id};
    return words;
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

// Commands that change what is drawn over the bodies, and the ground behind them.

/// Whose trails are drawn.
enum class TrailsOf { nobody, sample, picked };

struct ShowTrails {
  TrailsOf of = TrailsOf::nobody;
  double length = 0;  ///< of a trail, in units of time; 0: chosen for the scene

  static constexpr Range<double> lengths{0, std::numeric_limits<double>::infinity(), "in units of time", true};
  friend bool operator==(const ShowTrails&, const ShowTrails&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowTrails>(
        "trails", "Shows where bodies were: a sample of at most 1,024 bodies, or the picked one alone.",
        Argument<&ShowTrails::of>{{.name = "of"}},
        Argument<&ShowTrails::length>{
            {.name = "length", .optional = true, .range = ShowTrails::lengths, .word = "auto"}});
  }
};

/// Quantity that the arrows at bodies show.
enum class Vectors { none, velocity, acceleration };

struct ShowVectors {
  Vectors quantity = Vectors::none;
  friend bool operator==(const ShowVectors&, const ShowVectors&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowVectors>("vectors",
                                    "Shows arrows at a sample of at most 1,024 bodies and at the picked one.",
                                    Argument<&ShowVectors::quantity>{{.name = "quantity"}});
  }
};

/// Draws cells of the tree as boxes over the bodies.
struct ShowTreeCells {
  bool on = false;
  int level = CellRequest::every_level;
  friend bool operator==(const ShowTreeCells&, const ShowTreeCells&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowTreeCells>(
        "cells", "Shows or hides the cells of a tree kernel as boxes: all of them, or those of one level.",
        Argument<&ShowTreeCells::on>{{.name = "on"}},
        Argument<&ShowTreeCells::level>{{.name = "level",
                                         .optional = true,
                                         .range = ReadTreeCells::levels,
                                         .word = "all",
                                         .word_number = CellRequest::every_level}});
  }
};

/// Draws what the picked body meets on its walk through the tree.
struct ShowWalk {
  bool on = false;
  friend bool operator==(const ShowWalk&, const ShowWalk&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowWalk>(
        "walk", "Shows what the picked body meets in the tree: cells as a whole, and leaves body by body.",
        Argument<&ShowWalk::on>{{.name = "on"}});
  }
};

struct ShowAxes {
  bool on = false;
  friend bool operator==(const ShowAxes&, const ShowAxes&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowAxes>("axes", "Shows or hides the axes x, y and z through the middle of the scene.",
                                 Argument<&ShowAxes::on>{{.name = "on"}});
  }
};

struct SetTheme {
  render::Theme theme = render::Theme::dark;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetTheme>("theme", "Draws light on a dark ground, or ink on white for print.",
                                 Argument<&SetTheme::theme>{{.name = "theme"}});
  }
};

/// The overlays that the user asked for.
struct Overlays {
  ShowTrails trails;
  ShowVectors vectors;
  ShowTreeCells cells;
  ShowWalk walk;
  ShowAxes axes;
  friend bool operator==(const Overlays&, const Overlays&) = default;
};

template <>
struct EnumWords<TrailsOf> {
  static constexpr std::array<std::pair<TrailsOf, std::string_view>, 3> all() {
    return {{{TrailsOf::sample, "on"}, {TrailsOf::nobody, "off"}, {TrailsOf::picked, "picked"}}};
  }
};

template <>
struct EnumWords<Vectors> {
  static constexpr std::array<std::pair<Vectors, std::string_view>, 3> all() {
    return {{{Vectors::velocity, "velocity"}, {Vectors::acceleration, "acceleration"}, {Vectors::none, "off"}}};
  }
};

template <>
struct EnumWords<render::Theme> {
  static constexpr std::array<std::pair<render::Theme, std::string_view>, 2> all() {
    return {{{render::Theme::dark, "dark"}, {render::Theme::light, "light"}}};
  }
};

// Commands that move the camera and pick bodies.

/// Turns the camera about its target by `right` and `up`, in heights of the window: a full height is half a turn.
struct OrbitView {
  float right, up;

  static constexpr Range<float> drags{-1e3f, 1e3f, "heights of the window"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<OrbitView>("orbit", "Turns the camera about its target; a full height is half a turn.",
                                  Argument<&OrbitView::right>{{.name = "right", .range = OrbitView::drags}},
                                  Argument<&OrbitView::up>{{.name = "up", .range = OrbitView::drags}});
  }
};

/// Moves the target with the picture.
struct PanView {
  float right, up;

  template <class = void>
  static constexpr auto describe() {
    return command_row<PanView>("pan", "Moves the picture.",
                                Argument<&PanView::right>{{.name = "right", .range = OrbitView::drags}},
                                Argument<&PanView::up>{{.name = "up", .range = OrbitView::drags}});
  }
};

/// Moves camera and target together, by distances between them.
struct FlyView {
  float right, up, forward;

  static constexpr Range<float> lengths{-1e3f, 1e3f, "distances to the target"};
  static constexpr float per_s = 0.6f, fast = 4;  ///< the speed while a key is down, and how much faster with Shift

  template <class = void>
  static constexpr auto describe() {
    return command_row<FlyView>("fly", "Flies: moves the camera and its target together, by distances between them.",
                                Argument<&FlyView::right>{{.name = "right", .range = lengths}},
                                Argument<&FlyView::up>{{.name = "up", .range = lengths}},
                                Argument<&FlyView::forward>{{.name = "forward", .range = lengths}});
  }
};

/// Picks the body at a place of the picture, in shares of the window from its upper left corner; unpicks if there is
/// none.
struct PickAt {
  float x, y;

  static constexpr Range<float> shares{0, 1, "of the window"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<PickAt>("pick", "Picks the body at a place of the picture, from its upper left corner.",
                               Argument<&PickAt::x>{{.name = "x", .range = PickAt::shares}},
                               Argument<&PickAt::y>{{.name = "y", .range = PickAt::shares}});
  }
};

struct ZoomView {
  float notches;  ///< of the wheel; positive: nearer
  /// Keeps what is seen there in its place: shares of the window from its upper left corner. Without either, the
  /// middle.
  std::optional<float> x{}, y{};

  static constexpr Range<float> range{-1e3f, 1e3f, "wheel notches"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<ZoomView>("zoom", "Moves the camera nearer, or farther if negative.",
                                 Argument<&ZoomView::notches>{{.name = "notches", .range = ZoomView::range}},
                                 Argument<&ZoomView::x>{{.name = "x", .optional = true, .range = PickAt::shares}},
                                 Argument<&ZoomView::y>{{.name = "y", .optional = true, .range = PickAt::shares}});
  }
};

struct PickBody {
  int number;  ///< counted from 0

  static constexpr Range<int> numbers{0, std::numeric_limits<int>::max()};

  template <class = void>
  static constexpr auto describe() {
    return command_row<PickBody>("pick-body", "Picks the body with this number, counted from 0.",
                                 Argument<&PickBody::number>{{.name = "number", .range = PickBody::numbers}});
  }
};

struct Unpick {
  template <class = void>
  static constexpr auto describe() {
    return command_row<Unpick>("unpick", "Picks no body.");
  }
};

/// Target that the camera follows: the picked body, the centre of mass of all bodies, the largest cluster, or a
/// part of the scene.
enum class Followed { nothing, body, mass, cluster, part };

struct Follow {
  Followed what = Followed::body;
  std::string name{};  ///< of the part; empty for all else
  friend bool operator==(const Follow&, const Follow&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<Follow>("follow",
                               "Moves the camera with the picked body, the centre of mass of all bodies, the largest "
                               "cluster, or the part of the scene with this name; off: leaves it where it is.",
                               Argument<&Follow::what>{{.name = "what"}},
                               Argument<&Follow::name>{{.name = "name", .optional = true}});
  }
};

/// Angles in radians: `azimuth` about z from the x axis, `elevation` over the xy plane.
struct LookFrom {
  float azimuth, elevation;

  static constexpr Range<float> azimuths{-6.2832f, 6.2832f, "radians"}, elevations{-1.5708f, 1.5708f, "radians"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<LookFrom>("look-from", "Sets the direction of the camera.",
                                 Argument<&LookFrom::azimuth>{{.name = "azimuth", .range = LookFrom::azimuths}},
                                 Argument<&LookFrom::elevation>{{.name = "elevation", .range = LookFrom::elevations}});
  }
};

/// Adds the camera's view as a key frame to the path that is being made, after_s after the last one.
struct AddKeyFrame {
  double after_s = 2;

  static constexpr Range<double> intervals{0.001, 1e6, "s"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<AddKeyFrame>(
        "add-key-frame", "Adds the present view to the camera path, by default 2 s after the view before.",
        Argument<&AddKeyFrame::after_s>{{.name = "seconds", .optional = true, .range = AddKeyFrame::intervals}});
  }
};

struct ClearPath {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ClearPath>("clear-path", "Removes all key frames from the camera path.");
  }
};

struct SavePath {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SavePath>("save-path", "Saves the camera path.",
                                 Argument<&SavePath::file>{{.name = "file", .optional = true, .form = Form::file}});
  }
};

/// An empty name stands for the path that is being made.
struct PlayPath {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<PlayPath>(
        "play-path", "Moves the camera along the views of a file, or along those that were added to the camera path.",
        Argument<&PlayPath::file>{{.name = "file", .optional = true, .form = Form::file}});
  }
};

/// All bodies, or 95 % of them: a few that have escaped may be so far away that the others are a speck.
enum class FramedBodies { all, most };

struct FrameAll {
  FramedBodies bodies = FramedBodies::all;

  template <class = void>
  static constexpr auto describe() {
    return command_row<FrameAll>("frame-all", "Moves the camera so that it shows all bodies; most: 95 % of them.",
                                 Argument<&FrameAll::bodies>{{.name = "bodies", .optional = true}});
  }
};

struct ResetCamera {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ResetCamera>("reset-camera", "Returns the camera to its first view.");
  }
};

template <>
struct EnumWords<FramedBodies> {
  static constexpr std::array<std::pair<FramedBodies, std::string_view>, 2> all() {
    return {{{FramedBodies::all, "all"}, {FramedBodies::most, "most"}}};
  }
};

template <>
struct EnumWords<Followed> {
  static constexpr std::array<std::pair<Followed, std::string_view>, 5> all() {
    return {{{Followed::body, "body"},
             {Followed::mass, "mass"},
             {Followed::cluster, "cluster"},
             {Followed::part, "part"},
             {Followed::nothing, "off"}}};
  }
};

}  // namespace orrery
