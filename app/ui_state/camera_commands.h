#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "compute/sim/command_row.h"

namespace orrery {

/// Turns the camera about its target by `right` and `up`, in window heights. A full height is half a turn.
struct OrbitView {
  float right, up;

  static constexpr Range<float> drags{-1e3f, 1e3f, "heights of the window"};
};

/// Moves the camera's target so that the picture moves by `right` and `up`, in window heights.
struct PanView {
  float right, up;
};

/// Moves camera and target together, in units of the distance between them.
struct FlyView {
  float right, up, forward;

  static constexpr Range<float> lengths{-1e3f, 1e3f, "distances to the target"};
  static constexpr float per_s = 0.6f, fast = 4;  ///< speed while a key is down, and its factor with Shift
};

/// Picks the body at a point of the picture, in fractions of the window from its upper left corner. Unpicks if there is
/// no body.
struct PickAt {
  float x, y;

  static constexpr Range<float> shares{0, 1, "of the window"};
};

struct ZoomView {
  float notches;  ///< notches of the mouse wheel; positive: nearer
  /// Point of the picture that stays in place, in fractions of the window from its upper left corner. If either is
  /// missing, the middle.
  std::optional<float> x{}, y{};

  static constexpr Range<float> range{-1e3f, 1e3f, "wheel notches"};
};

struct PickBody {
  int number;  ///< counted from 0

  static constexpr Range<int> numbers{0, std::numeric_limits<int>::max()};
};

struct Unpick {};

/// Target that the camera follows: the picked body, the centre of mass of all bodies, the largest cluster, or a part of
/// the scene.
enum class Followed { nothing, body, mass, cluster, part };

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

struct Follow {
  Followed what = Followed::body;
  std::string name{};  ///< name of the part; empty for other targets
  friend bool operator==(const Follow&, const Follow&) = default;
};

/// Turns the camera to `azimuth`, the angle about z from the x axis, and `elevation`, over the xy plane; in radians.
struct LookFrom {
  float azimuth, elevation;

  static constexpr Range<float> azimuths{-6.2832f, 6.2832f, "radians"}, elevations{-1.5708f, 1.5708f, "radians"};
};

/// Frames all bodies, or 95 % of them: a few escaped bodies may be so far away that the others would be a speck.
enum class FramedBodies { all, most };

template <>
struct EnumWords<FramedBodies> {
  static constexpr std::array<std::pair<FramedBodies, std::string_view>, 2> all() {
    return {{{FramedBodies::all, "all"}, {FramedBodies::most, "most"}}};
  }
};

struct FrameAll {
  FramedBodies bodies = FramedBodies::all;
};

struct ResetCamera {};

/// Adds the camera's view as a key frame to the path in progress, `after_s` seconds after the previous one.
struct AddKeyFrame {
  double after_s = 2;

  static constexpr Range<double> intervals{0.001, 1e6, "s"};
};

struct ClearPath {};

struct SavePath {
  std::string file;
};

/// Plays the camera path of `file`, or the path in progress if the name is empty.
struct PlayPath {
  std::string file;
};

/// Commands that move the camera and pick bodies.
inline constexpr std::tuple camera_commands{
    command_row<OrbitView>("orbit", "Turns the camera about its target; a full height is half a turn.",
                           Argument<&OrbitView::right>{{.name = "right", .range = OrbitView::drags}},
                           Argument<&OrbitView::up>{{.name = "up", .range = OrbitView::drags}}),
    command_row<PanView>("pan", "Moves the picture.",
                         Argument<&PanView::right>{{.name = "right", .range = OrbitView::drags}},
                         Argument<&PanView::up>{{.name = "up", .range = OrbitView::drags}}),
    command_row<FlyView>("fly", "Flies: moves the camera and its target together, by distances between them.",
                         Argument<&FlyView::right>{{.name = "right", .range = FlyView::lengths}},
                         Argument<&FlyView::up>{{.name = "up", .range = FlyView::lengths}},
                         Argument<&FlyView::forward>{{.name = "forward", .range = FlyView::lengths}}),
    command_row<PickAt>("pick", "Picks the body at a place of the picture, from its upper left corner.",
                        Argument<&PickAt::x>{{.name = "x", .range = PickAt::shares}},
                        Argument<&PickAt::y>{{.name = "y", .range = PickAt::shares}}),
    command_row<ZoomView>("zoom", "Moves the camera nearer, or farther if negative.",
                          Argument<&ZoomView::notches>{{.name = "notches", .range = ZoomView::range}},
                          Argument<&ZoomView::x>{{.name = "x", .optional = true, .range = PickAt::shares}},
                          Argument<&ZoomView::y>{{.name = "y", .optional = true, .range = PickAt::shares}}),
    command_row<PickBody>("pick-body", "Picks the body with this number, counted from 0.",
                          Argument<&PickBody::number>{{.name = "number", .range = PickBody::numbers}}),
    command_row<Unpick>("unpick", "Picks no body."),
    command_row<Follow>("follow",
                        "Moves the camera with the picked body, the centre of mass of all bodies, the largest "
                        "cluster, or the part of the scene with this name; off: leaves it where it is.",
                        Argument<&Follow::what>{{.name = "what"}},
                        Argument<&Follow::name>{{.name = "name", .optional = true}}),
    command_row<LookFrom>("look-from", "Sets the direction of the camera.",
                          Argument<&LookFrom::azimuth>{{.name = "azimuth", .range = LookFrom::azimuths}},
                          Argument<&LookFrom::elevation>{{.name = "elevation", .range = LookFrom::elevations}}),
    command_row<FrameAll>("frame-all", "Moves the camera so that it shows all bodies; most: 95 % of them.",
                          Argument<&FrameAll::bodies>{{.name = "bodies", .optional = true}}),
    command_row<ResetCamera>("reset-camera", "Returns the camera to its first view."),
    command_row<AddKeyFrame>(
        "add-key-frame", "Adds the present view to the camera path, by default 2 s after the view before.",
        Argument<&AddKeyFrame::after_s>{{.name = "seconds", .optional = true, .range = AddKeyFrame::intervals}}),
    command_row<ClearPath>("clear-path", "Removes all key frames from the camera path."),
    command_row<SavePath>("save-path", "Saves the camera path.",
                          Argument<&SavePath::file>{{.name = "file", .optional = true, .form = Form::written_file}}),
    command_row<PlayPath>(
        "play-path", "Moves the camera along the views of a file, or along those that were added to the camera path.",
        Argument<&PlayPath::file>{{.name = "file", .optional = true, .form = Form::file}})};

}  // namespace orrery
