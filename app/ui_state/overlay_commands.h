#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "compute/sim/command.h"
#include "compute/sim/command_row.h"
#include "render/appearance.h"

namespace orrery {

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

/// What the arrows at bodies show.
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

/// What is drawn over the bodies, as it was asked for.
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

}  // namespace orrery
