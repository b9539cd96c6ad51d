#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/kit/rows_table.h"
#include "app/panels/kit/widgets.h"
#include "app/ui_state/by_type.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// Where the card of the picked body is, beside the side column.
enum class CardCorner { upper_left, lower_left, upper_right };

/// How much of the card is drawn: all rows; those of the body's own state and error; only its head.
enum class CardExtent { whole, brief, head };

struct CardPlace {
  int body = -1;                    ///< the picked one
  float width = 0;                  ///< in pixels, as drawn last; 0: it is not drawn
  ImVec2 low{};                     ///< the upper left corner, as drawn last
  std::array<float, 3> heights{0};  ///< of each extent, in pixels, as far as it was drawn
  CardCorner corner = CardCorner::upper_left;
  CardExtent extent = CardExtent::whole;  ///< less than the whole if that would cover the body in every corner

  float& height(CardExtent of) { return heights[static_cast<std::size_t>(of)]; }
  ImVec2 size() const { return {width, heights[static_cast<std::size_t>(extent)]}; }
};

/// The latest frame, batch of steps and tree of that batch, held for a moment so that the numbers can be read.
struct HeldTimes {
  FrameTimes frame;
  StepTiming step;
  std::optional<TreeReport> tree;
  std::vector<DeviceLoad> devices;
  bool step_known = false, frame_known = false;
  double until = 0;  ///< in ImGui's time
};

/// The scene that the user is choosing; reset when another one is loaded.
struct SceneDraft {
  SceneRequest loaded;
  std::string scene;              ///< a generator's id; empty: the file that is loaded
  std::string count, seed, file;  ///< as typed
};

/// The fixed ends of the range of colours as they are typed; reset when the appearance has others.
struct ColourRangeDraft {
  std::optional<float> low, high;  ///< that the texts were made from
  std::string low_text, high_text;
};

struct LabState {
  std::string tab = "results";  ///< one of tab_ids()
  std::optional<bool> folded;   ///< only the tabs' titles are shown; empty: not chosen, folded in a low window
  float content_height = 0;     ///< of what the last frame showed, in pixels; 0: nothing yet
  float covered = 0;  ///< of the window's height, from the bottom, in pixels: the most since it was unfolded or framed
  float right = 0;    ///< where what covers it ends, in pixels from the left of the window
  std::string pointed;    ///< the tab below the mouse; empty: none
  double explain_at = 0;  ///< when its tooltip appears, in ImGui's time; infinite after a click
  SortOrder results_order;
  int plotted_count = 0;  ///< number of bodies whose results are highlighted; 0: the current number
  ByType drafts;          ///< what the user is choosing in the tabs of features, such as RaceDraft
};

/// The state that the panels keep between frames; one per ImGui context.
struct PanelState {
  HeldTimes times;
  SceneDraft scene;
  std::string setting;  ///< of a kernel, as typed into its open list
  ColourRangeDraft colours;
  LabState lab;
  CardPlace card;
  ImVec2 legend_corner{};  ///< the upper left one, in pixels; the window's lower right one if there is no legend
  float help_height = 0;   ///< of the list of keys, in pixels, as drawn last; 0: it was closed
  Folds folds;
  std::string timings_file, film_file, picture_file, snapshot_file, replay_file, results_file;
  int picture_times = 1;           ///< see SaveEnlarged
  bool last_run_declined = false;  ///< the run of the last window is not to be continued
  std::string dismissed_error;
  std::string notice;
  double noticed_at = 0;  ///< in ImGui's time
};

}  // namespace orrery
