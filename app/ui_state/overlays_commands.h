#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Bodies whose trails are drawn.
enum class TrailsOf { nobody, sample, picked };

template <>
struct EnumWords<TrailsOf> {
  static constexpr std::array<std::pair<TrailsOf, std::string_view>, 3> all() {
    return {{{TrailsOf::sample, "on"}, {TrailsOf::nobody, "off"}, {TrailsOf::picked, "picked"}}};
  }
};

struct ShowTrails {
  TrailsOf of = TrailsOf::nobody;
  double length = 0;  ///< duration of a trail, in units of time; 0: chosen for the scene

  static constexpr Range<double> lengths{0, std::numeric_limits<double>::infinity(), "in units of time", true};
  friend bool operator==(const ShowTrails&, const ShowTrails&) = default;
};

/// Quantity shown by arrows at bodies.
enum class Vectors { none, velocity, acceleration };

template <>
struct EnumWords<Vectors> {
  static constexpr std::array<std::pair<Vectors, std::string_view>, 3> all() {
    return {{{Vectors::velocity, "velocity"}, {Vectors::acceleration, "acceleration"}, {Vectors::none, "off"}}};
  }
};

struct ShowVectors {
  Vectors quantity = Vectors::none;
  friend bool operator==(const ShowVectors&, const ShowVectors&) = default;
};

/// Draws cells of the tree as boxes.
struct ShowTreeCells {
  bool on = false;
  int level = CellRequest::every_level;
  friend bool operator==(const ShowTreeCells&, const ShowTreeCells&) = default;
};

/// Draws the cells that the picked body meets on its walk through the tree.
struct ShowWalk {
  bool on = false;
  friend bool operator==(const ShowWalk&, const ShowWalk&) = default;
};

struct ShowAxes {
  bool on = false;
  friend bool operator==(const ShowAxes&, const ShowAxes&) = default;
};

/// Overlays that the user chose.
struct Overlays {
  ShowTrails trails;
  ShowVectors vectors;
  ShowTreeCells cells;
  ShowWalk walk;
  ShowAxes axes;
  friend bool operator==(const Overlays&, const Overlays&) = default;
};

/// Commands that draw trails, arrows, boxes and axes over the bodies.
inline constexpr std::tuple overlays_commands{
    command_row<ShowTrails>("trails",
                            "Shows where bodies were: a sample of at most 1,024 bodies, or the picked one alone.",
                            Argument<&ShowTrails::of>{{.name = "of"}},
                            Argument<&ShowTrails::length>{
                                {.name = "length", .optional = true, .range = ShowTrails::lengths, .word = "auto"}}),
    command_row<ShowVectors>("vectors", "Shows arrows at a sample of at most 1,024 bodies and at the picked one.",
                             Argument<&ShowVectors::quantity>{{.name = "quantity"}}),
    command_row<ShowTreeCells>(
        "cells", "Shows or hides the cells of a tree kernel as boxes: all of them, or those of one level.",
        Argument<&ShowTreeCells::on>{{.name = "on"}},
        Argument<&ShowTreeCells::level>{{.name = "level",
                                         .optional = true,
                                         .range = ReadTreeCells::levels,
                                         .word = "all",
                                         .word_number = CellRequest::every_level}}),
    command_row<ShowWalk>("walk",
                          "Shows what the picked body meets in the tree: cells as a whole, and leaves body by body.",
                          Argument<&ShowWalk::on>{{.name = "on"}}),
    command_row<ShowAxes>("axes", "Shows or hides the axes x, y and z through the middle of the scene.",
                          Argument<&ShowAxes::on>{{.name = "on"}})};

}  // namespace orrery
