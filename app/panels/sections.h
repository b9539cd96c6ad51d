#pragma once

#include <imgui.h>

#include <string>

#include "app/panels/kit/theme.h"
#include "app/panels/panels.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"

namespace orrery {
/// Takes the latest times if the held ones were shown long enough or belong to another trial.
void hold_times(const Status& status, const ViewStatus& view, HeldTimes& held);

// The parts of the side column, in its order. Each draws into the current window.
void rate_panel(const Status& status, const ViewStatus& view, const HeldTimes& times);
void frame_panel(const HeldTimes& times);
void run_panel(const Status& status, const ViewStatus& view, Requests& out);
void scene_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void kernel_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Draws nothing if the kernel is not a tree.
void tree_panel(const Status& status, const ViewStatus& view, const HeldTimes& times, Requests& out);
void physics_panel(const Status& status, const ViewStatus& view, Requests& out);

/// The bodies at each level of block time steps, once they are known.
void levels_rows(const Status& status);
void appearance_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void record_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

// Panels over the picture, each in a window of its own.
void info_panel(const Status& status, const ViewStatus& view, Requests& out);
void lab_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Shows what is recorded or filmed, in front of everything else, also while the panels are hidden.
void light_panel(const ViewStatus& view);

/// Where the info strip ends, in pixels from the top of the window; the upper margin if there is no strip.
float strip_end(const ViewStatus& view);

/// Where the room of all other windows over the picture begins: below the strip and the lights.
float stage_top(const ViewStatus& view);

/// Whether the side column begins at stage_top(), too: it leaves no room for a light beside it.
bool lights_cover_column(const ViewStatus& view);
void message_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// The few numbers of a presentation, below the picture. Sets LabState::covered.
void presentation_panel(const Status& status, const ViewStatus& view, PanelState& state);

/// Legend of the colours and lengths of the picture. Sets PanelState::legend_corner.
void legend_panel(const Status& status, const ViewStatus& view, PanelState& state);

/// ViewStatus::labels.
void label_panel(const ViewStatus& view);

/// The captions of all tabs over the picture. Returns how far those at the left reach down; 0: there are none.
float tab_captions(const ViewStatus& view, const PanelState& state);

/// The picked body: a ring around it, and a card with its numbers below `captions_end`, clear of the ring.
void picked_panel(const Status& status, const ViewStatus& view, PanelState& state, float captions_end, Requests& out);

/// The list of lessons, or a lesson with its pages.
void lesson_panel(const Status& status, const ViewStatus& view, const PanelState& state, Requests& out);

/// The keys. Leaves the legend free.
void help_panel(const ViewStatus& view, PanelState& state, Requests& out);

/// Asks ViewStatus::quit_question.
void quit_panel(const ViewStatus& view, Requests& out);

/// How positions get to the renderer, and the cost. Always visible: in the info strip if that fits beside the side
/// column.
void interop_badge(const Status& status, const ViewStatus& view);

/// Why steps take longer than in `bench`; empty if drawing takes nothing from the kernel.
const char* slower_words(const Status& status, const ViewStatus& view);
bool info_fits(const ViewStatus& view);

/// The laboratory's parts as sections of the side column, if their window does not fit beside it.
void lab_sections(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
bool lab_fits(const ViewStatus& view);

inline constexpr float least_lab_width = 29.5f, least_lab_height = 26;  ///< em: beside the column; of the window

/// Interactions per body that a tree evaluated: "1,234", or `unknown`. Of the times that the panel holds.
std::string interactions_per_body(const HeldTimes& times, int count);

/// Describes it.
extern const char* const interactions_per_body_words;

/// Describes Reset, besides the first state.
extern const char* const reset_words;

/// The colour of an error in a table: forces that are not finite are highlighted.
ImU32 error_colour(const std::optional<ForceError>& error);

/// Flags of a window that cannot be moved.
inline constexpr int fixed_window = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;

/// Flags of a fixed window that stays below temporary windows.
inline constexpr int base_window = fixed_window | ImGuiWindowFlags_NoBringToFrontOnFocus;

/// Why no measurement can start now, and how to end what is in its way; empty: one can.
std::string machine_in_use(const ViewStatus& view);

/// The measurement in progress and how far it is, in one line, with a button that stops it. Call only while
/// measuring().
void measurement_row(const ViewStatus& view, Requests& out);

}  // namespace orrery
