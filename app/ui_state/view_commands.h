#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/ui_state/lab_tab.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/sim/command_row.h"
#include "render/appearance.h"

namespace orrery {

// Commands that change what the window shows.

struct SetAppearance {
  render::Appearance appearance;

  static constexpr Range<int> colour_maps{0, render::colour_map_count - 1};
  static constexpr Range<float> scales{1e-4f, 1e4f};
  static constexpr Range<float> ends{0, 1e30f};  ///< of a fixed range of colours
  static constexpr Range<float> exposure_slider{0.05f, 20}, size_slider{0.1f, 10};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetAppearance>(
        "appearance", "Sets how bodies are drawn; an argument that is left out gets its initial value.",
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
    throw UsageError("appearance low cannot be 0 on a logarithmic scale; it must be a number above 0");
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
struct EnumWords<render::ColourBy> {
  static constexpr std::array<std::pair<render::ColourBy, std::string_view>, 10> all() {
    return {{{render::ColourBy::speed, "speed"},
             {render::ColourBy::acceleration, "acceleration"},
             {render::ColourBy::mass, "mass"},
             {render::ColourBy::species, "species"},
             {render::ColourBy::local_density, "local-density"},
             {render::ColourBy::force_error, "force-error"},
             {render::ColourBy::time_step_class, "time-step-class"},
             {render::ColourBy::distance, "distance"},
             {render::ColourBy::domain, "domain"},
             {render::ColourBy::none, "none"}}};
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

}  // namespace orrery
