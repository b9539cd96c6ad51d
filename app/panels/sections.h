#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

#include "app/panels/kit/theme.h"
#include "app/panels/panels.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// Takes the latest times if the held ones were shown long enough, or if parts appeared or disappeared.
void hold_times(const Status& status, const ViewStatus& view, HeldTimes& held);

// The parts of the side column, from top to bottom. Each draws into the current window.
void rate_panel(const Status& status, const ViewStatus& view, const HeldTimes& times);
void frame_panel(const HeldTimes& times);
void run_panel(const Status& status, const ViewStatus& view, Requests& out);
void scene_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void kernel_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Draws the statistics of the tree; nothing if the kernel is not a tree.
void tree_panel(const Status& status, const ViewStatus& view, const HeldTimes& times, Requests& out);
void physics_panel(const Status& status, const ViewStatus& view, Requests& out);

/// Draws the number of bodies at each level of block time steps. Draws nothing before they are known.
void levels_rows(const Status& status);
void appearance_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void record_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

// Panels over the picture, each in a separate window.
void info_panel(const Status& status, const ViewStatus& view, Requests& out);
void lab_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Shows lights for a recording or film in progress, in front of everything else, even while the panels are hidden.
void light_panel(const ViewStatus& view);

/// Returns the lower edge of the info strip, in pixels from the top; the upper margin if there is no strip.
float strip_end(const ViewStatus& view);

/// Returns the upper edge of the space for all other windows over the picture, in pixels: below the strip and the
/// lights.
float stage_top(const ViewStatus& view);

/// Returns whether the side column begins at stage_top(), because there is no room for a light beside it.
bool lights_cover_column(const ViewStatus& view);
void message_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Draws the few numbers of a presentation, below the picture. Sets LabState::covered.
void presentation_panel(const Status& status, const ViewStatus& view, PanelState& state);

/// Draws the legend of the picture's colours and lengths. Sets PanelState::legend_corner.
void legend_panel(const Status& status, const ViewStatus& view, PanelState& state);

/// Draws ViewStatus::labels.
void label_panel(const ViewStatus& view);

/// Draws the captions of all tabs over the picture. Returns the lower end of those at the left, in pixels; 0: none.
float tab_captions(const ViewStatus& view, const PanelState& state);

/// Draws a ring around the picked body, and a card with its numbers below `captions_end`, clear of the ring.
void picked_panel(const Status& status, const ViewStatus& view, PanelState& state, float captions_end, Requests& out);

/// Draws the list of lessons, or one lesson with its pages.
void lesson_panel(const Status& status, const ViewStatus& view, const PanelState& state, Requests& out);

/// Draws the list of keys. Leaves the legend free if there is room.
void help_panel(const ViewStatus& view, PanelState& state, Requests& out);

/// Shows ViewStatus::quit_question.
void quit_panel(const ViewStatus& view, Requests& out);

/// Shows how positions get to the renderer, and the cost. Always visible: in the info strip if that fits beside the
/// side column.
void interop_badge(const Status& status, const ViewStatus& view);

/// Returns why steps take longer than in `bench`; empty if drawing does not slow down the kernel.
const char* slower_words(const Status& status, const ViewStatus& view);
bool info_fits(const ViewStatus& view);

/// Draws the laboratory's tabs as sections of the side column. Used if lab_fits() is false.
void lab_sections(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
bool lab_fits(const ViewStatus& view);

/// Minimum space for the laboratory, in em: width beside the side column, and height of the window.
inline constexpr float least_lab_width = 29.5f, least_lab_height = 26;

/// Returns the interactions per body of a tree, from the held times: "1,234", or `unknown`.
std::string interactions_per_body(const HeldTimes& times, int count);

/// Tooltip of interactions_per_body().
extern const char* const interactions_per_body_words;

/// Text about Reset for tooltips: what it restores besides the first state.
extern const char* const reset_words;

/// Returns the colour of an error in a table. Forces that are not finite are highlighted.
ImU32 error_colour(const std::optional<ForceError>& error);

/// Flags of a window that cannot be moved.
inline constexpr int fixed_window = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;

/// Flags of a fixed window that stays below temporary windows.
inline constexpr int base_window = fixed_window | ImGuiWindowFlags_NoBringToFrontOnFocus;

/// Returns why no measurement can start now, and how to end the cause; empty if one can start.
std::string machine_in_use(const ViewStatus& view);

/// Draws the current measurement's progress in one line, with a button that stops it. Call only while measuring().
void measurement_row(const ViewStatus& view, Requests& out);

/// Returns one sentence on why row `row` of `results` has no speed-up over a pinned row. Empty if it has one, or if no
/// row is pinned.
std::string why_no_speedup(std::span<const Result> results, std::size_t row);

/// A tab of the laboratory, listed as `ORRERY_TABS` in app/features/lists.cmake.
struct Tab {
  const char* title;
  const char* notes;  ///< its tooltip
  /// Draws the tab into the current window, about `height` pixels high.
  void (*draw)(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);
  /// Draws captions over the picture, in every frame. Returns the lower end of those at the left, in pixels from the
  /// top; 0: no captions. Null if the tab never has any.
  float (*captions)(const ViewStatus& view, const PanelState& state) = nullptr;
};

#define X(tab, id) extern const Tab tab##_tab;
#include "tabs_list.inc"
#undef X

}  // namespace orrery
