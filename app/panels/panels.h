// The panels: their state between frames, and what draws them.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/kit/rows_table.h"
#include "app/panels/kit/widgets.h"
#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// Corner of the picture in which the card of the picked body is drawn.
enum class CardCorner { upper_left, lower_left, upper_right };

/// Extent of the card: all rows; only the body's own state and error; or only its title row.
enum class CardExtent { whole, brief, head };

struct CardPlace {
  int body = -1;                    ///< number of the picked body; -1: none
  float width = 0;                  ///< in pixels, as last drawn; 0: the card is not drawn
  ImVec2 low{};                     ///< upper left corner, as last drawn
  std::array<float, 3> heights{0};  ///< height of each extent, in pixels; 0: not drawn yet
  CardCorner corner = CardCorner::upper_left;
  CardExtent extent = CardExtent::whole;  ///< reduced if the whole card would cover the body in every corner

  float& height(CardExtent of) { return heights[static_cast<std::size_t>(of)]; }
  ImVec2 size() const { return {width, heights[static_cast<std::size_t>(extent)]}; }
};

/// Times of the latest frame, batch of steps and tree, held long enough that the numbers can be read.
struct HeldTimes {
  FrameTimes frame;
  StepTiming step;
  std::optional<TreeReport> tree;
  std::vector<DeviceLoad> devices;
  bool step_known = false, frame_known = false;
  double until = 0;  ///< when new times are taken, in s of ImGui::GetTime()
};

/// The scene that the user is choosing. Reset when another scene is loaded.
struct SceneDraft {
  SceneRequest loaded;
  std::string scene;              ///< id of the generator; empty: the file that is loaded
  std::string count, seed, file;  ///< as typed
};

/// The fixed ends of the colour range, as typed. Reset when the appearance gets other ends.
struct ColourRangeDraft {
  std::optional<float> low, high;  ///< the numbers from which the texts were made
  std::string low_text, high_text;
};

struct LabState {
  std::string tab = "results";  ///< one of tab_ids()
  std::optional<bool> folded;   ///< whether only the titles are shown; empty: folded in a low window only
  float content_height = 0;     ///< height of the open tab in the previous frame, in pixels; 0: not drawn yet
  float covered = 0;      ///< pixels covered at the bottom: maximum since the laboratory unfolded or bodies were framed
  float right = 0;        ///< right edge of the laboratory, in pixels from the window's left
  std::string pointed;    ///< id of the tab below the mouse; empty: none
  double explain_at = 0;  ///< when the tab's tooltip appears, in s of ImGui::GetTime(); infinite after a click
  SortOrder results_order;
  int plotted_count = 0;  ///< number of bodies whose results the plot highlights; 0: the current number
  ByType drafts;          ///< unfinished choices in the tabs of features, such as RaceDraft
};

/// State that the panels keep between frames. One per ImGui context.
struct PanelState {
  HeldTimes times;
  SceneDraft scene;
  std::string setting;  ///< text typed into a kernel setting's open list
  ColourRangeDraft colours;
  LabState lab;
  CardPlace card;
  ImVec2 legend_corner{};  ///< upper left corner, in pixels; the window's lower right corner if there is no legend
  float help_height = 0;   ///< height of the list of keys, in pixels, as last drawn; 0: it was closed
  Folds folds;
  std::string timings_file, film_file, picture_file, snapshot_file, replay_file, results_file;
  int picture_times = 1;           ///< see SaveEnlarged
  bool last_run_declined = false;  ///< whether the user declined to continue the last window's run
  std::string dismissed_error;
  std::string notice;
  double noticed_at = 0;  ///< when the notice appeared, in s of ImGui::GetTime()
};

/// Draws all panels over the picture and appends the user's requests to `out`. Call between ImGui::NewFrame and
/// ImGui::Render. Only `state` and `out` are changed.
void draw_panels(const Status& status, const ViewStatus& view, PanelState& state, Requests& out);

/// Returns the width of the side column with its margins, in pixels from the left edge; 0 while it is hidden. A window
/// smaller than least_window hides it.
float side_column_width(const ViewStatus& view);

/// Returns the scale of type and widgets for a window of this size, on a display of scale `asked`. Reduced so that the
/// laboratory fits beside the side column, but not below 1 if `asked` >= 1. In steps of 1/8, so that resizing seldom
/// changes the type.
float fitting_scale(float asked, float width, float height);

/// Returns the scale of type and widgets in a presentation, for a window of `height` pixels at 96 dots per inch. In
/// steps of 0.1; proportional to the height, so that the layout is alike in windows of all sizes.
float presentation_scale(float height);

/// Returns the width of the lessons with their margin, in pixels from the right edge; 0 while none is shown.
float lesson_width(const ViewStatus& view);

/// Returns whether the legend is below the lessons, because there is too little room beside them.
bool legend_below_lesson(const ViewStatus& view);

}  // namespace orrery
