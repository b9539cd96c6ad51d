#pragma once

#include <imgui.h>

#include "app/panels/panels.h"

namespace orrery {

/// Takes over the latest times if the held ones have been shown long enough, or are of something else.
void hold_times(const Status& status, const ViewStatus& view, HeldTimes& held);

// The parts of the side column, in its order. Each draws into the present window.
void rate_panel(const Status& status, const ViewStatus& view, const HeldTimes& times);
void frame_panel(const HeldTimes& times);
void run_panel(const Status& status, const ViewStatus& view, Requests& out);
void kernel_panel(const Status& status, const ViewStatus& view, Requests& out);
/// Nothing where the kernel is no tree.
void tree_panel(const Status& status, const ViewStatus& view, Requests& out);
void physics_panel(const Status& status, const ViewStatus& view, Requests& out);
void record_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void scene_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void appearance_panel(const Status& status, const ViewStatus& view, Requests& out);

// What lies over the picture, each a window of its own.
void info_panel(const Status& status, const ViewStatus& view, Requests& out);
void lab_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void message_panel(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
void help_panel(const Status& status, const ViewStatus& view, Requests& out);
/// Asks ViewStatus::quit_question.
void quit_panel(const ViewStatus& view, Requests& out);

/// How positions get to the renderer and what that costs: it is always in sight, in the info strip if that fits beside
/// the side column.
void interop_badge(const ViewStatus& view);
bool info_fits(const ViewStatus& view);

/// The laboratory's parts as sections of the side column, for where their window does not fit beside it.
void lab_sections(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);
bool lab_fits(const ViewStatus& view);

// The laboratory's parts. Each draws into the present window and takes about `height` of it.
void results_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);
void speed_error_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);
void sweep_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);
void card_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);
void conservation_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out);

/// What Reset does besides going back to the first state.
extern const char* const reset_words;

/// Of an error in a table: forces that are not finite stand out.
ImU32 error_colour(const std::optional<ForceError>& error);

/// Flags of a window that stays where it is put.
inline constexpr int fixed_window = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing;
/// The same of one that stays below those that come and go.
inline constexpr int base_window = fixed_window | ImGuiWindowFlags_NoBringToFrontOnFocus;

}  // namespace orrery
