// All values that the window shows, as plain data made once per frame.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/measurement.h"
#include "app/text/markdown.h"
#include "app/ui_state/by_type.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/legend.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/machine_user.h"
#include "app/ui_state/overlays_commands.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/cuda/peak_rates.h"
#include "compute/sim/command.h"
#include "render/appearance.h"

namespace orrery {

/// The picked body, in units of G = 1.
struct PickedBody {
  int number = 0;      ///< counted from 0
  std::string part{};  ///< part of the scene: "halo", "star"; empty if the scene has no parts
  float mass = 0;
  std::array<float, 3> position{}, velocity{};
  float distance = 0;  ///< distance from the camera's target
  /// Position in the picture, in fractions of the window from its upper left corner; none if behind the camera.
  std::optional<std::array<float, 2>> place{};
  /// Mean between the two latest readings; none if both have the same time.
  std::optional<std::array<float, 3>> acceleration{};
  /// Numbers of cells and bodies that the body's group meets in its tree walk; none if not read.
  struct Walk {
    std::int64_t cells, bodies;
  };
  std::optional<Walk> walk{};
};

/// A row of a lesson, with its measurement.
struct LessonRowStatus {
  std::string label, what;  ///< what: the variant, such as "cpu-symmetric tile=64, 4,096 bodies"
  Measurement measurement;
};

struct LessonTitle {
  int number;
  std::string title;
};

/// State of the lessons, as the window shows them.
struct LessonStatus {
  std::vector<LessonTitle> titles;  ///< all lessons
  bool shown = false;
  bool listed = true;  ///< whether the list is shown, not a lesson; the values below then belong to the last lesson
  int number = 0;      ///< number of the lesson; 0: opened from a file
  std::chrono::steady_clock::time_point opened{};
  std::string title;
  LessonPage page = LessonPage::read;
  std::string machine;  ///< description of the machine on which the lesson measures
  TextBlocks introduction, scene, predict, measure, answer, change;
  std::vector<std::string> choices;
  std::optional<int> predicted;  ///< index of the predicted choice
  std::vector<LessonRowStatus> rows;
  bool measuring = false, measured = false;
  std::string present;      ///< the current measurement; see SweepStatus::present
  int done = 0, total = 0;  ///< numbers of rows
  double left_s = 0;
  std::string verdict;      ///< measured result that decides the question; empty before it is measured
  std::vector<bool> right;  ///< for each choice, at most one true; all false: not known or not decided
};

/// Transport of positions from the kernels to the renderer; the best comes first.
enum class Interop {
  mapped,  ///< CUDA kernels write directly into the GL buffer that is drawn
  staged,  ///< CUDA kernels write their own memory, which is copied to GL through pinned host memory
  host,    ///< a CPU kernel is running; its arrays are uploaded to GL
};

inline const char* to_string(Interop interop) {
  return interop == Interop::mapped ? "mapped" : interop == Interop::staged ? "staged" : "host";
}

/// Parts of one frame's time, in ms. map_ms to integrate_ms belong to the latest measured batch of steps.
struct FrameTimes {
  double map_ms = 0;                      ///< mapping the GL buffer for CUDA, or the copy if staged or host
  double force_ms = 0, integrate_ms = 0;  ///< sum over all steps of the frame
  double unmap_ms = 0;
  double draw_ms = 0;   ///< GPU time, from a GL timer query
  double gui_ms = 0;    ///< CPU time to build and submit the panels
  double swap_ms = 0;   ///< CPU time of the buffer swap, mostly waiting for the display
  double frame_ms = 0;  ///< from the start of one frame to the start of the next
};

/// A row of the results. If it was measured in the view, step_ms has only a median: the best over windows of
/// consecutive batches.
struct Result : Measurement {
  bool pinned = false;              ///< whether it is the baseline of the rows that are comparable() with it
  std::optional<double> speedup{};  ///< relative to the pinned row; none: no pinned row is comparable()
  bool swept = false;               ///< measured by a sweep, not in the view
};

/// Selectable sample sizes for force comparisons.
inline constexpr std::array probe_samples{256, 1024, 4096};

/// How often the running system is checked.
struct Diagnostics {
  bool probe = true;                ///< compare forces with fp64 sums every 0.5 s
  int sample = 0;                   ///< bodies per comparison, one of probe_samples; 0: automatic
  double conserved_interval_s = 0;  ///< interval between sums of energy and momenta, in s; 0: never
  bool every_body = false;          ///< compare different bodies each time, also while paused
  /// Number of a body to compare as well: soon, and also while paused if its error is not known.
  int body = ComparedBodies::nobody;
};

struct SweepStatus {
  bool active = false;
  std::string present;      ///< the current measurement: "cuda-tiled block=256, 16,384 bodies"
  int done = 0, total = 0;  ///< numbers of variants
  double left_s = 0;        ///< estimated time until the end
  std::vector<Measurement> rows;
  std::vector<double> held_s{};    ///< for the first rows: longest delay of a frame, in s
  std::vector<std::string> files;  ///< files written by the last sweep
  std::string error;               ///< why the last sweep ended early, or a file was not written
};

struct RecordingStatus {
  bool active = false;
  std::string file;
  std::int64_t rows = 0;
  std::string error;  ///< why the last recording ended early, one line; empty if it did not
};

struct KeyHelp {
  std::string keys, action;
  std::string group{};  ///< heading above this line; empty: the same group as the previous line
};

/// All values for the panels that are not in Status: plain data, filled in once per frame.
struct ViewStatus {
  std::optional<double> last_run_age_s;  ///< time since the last window's run was saved; none: it cannot be continued
  std::string last_run_words;            ///< "plummer, 16,384 bodies, t = 1.25"; empty: not known
  std::vector<KernelPtr> kernels;        ///< all selectable kernels, in the order of the catalog
  KernelPtr jerk_kernel;                 ///< this machine's default kernel with jerks; null: not known
  BackendStatuses backends;
  const BackendStatus& backend(Backend which) const { return backends[static_cast<std::size_t>(which)]; }

  FrameTimes times;
  /// Time per step: of the last batch, and the median of the last 120 measured batches.
  double step_ms_last = 0, step_ms_median = 0;
  int measured = 0;  ///< number of batches in that median; 0 before the current kernel, count and law were measured
  std::vector<float> step_ms_history;  ///< oldest first, at most 240 batches
  std::vector<Result> results;         ///< in the order of the first try
  RecordingStatus recording;
  Interop interop = Interop::host;
  std::string interop_reason;  ///< why not `mapped`, and how to fix it; empty if mapped
  render::Appearance appearance;
  render::Drawing drawn = render::Drawing::sprites;  ///< how the last frame was drawn; never `automatic`
  Legend legend;
  bool legend_shown = true;
  std::optional<PickedBody> picked;
  Follow followed{.what = Followed::nothing};  ///< target that the camera follows
  bool framed_all = false;                     ///< whether the camera has not moved since FrameAll of all bodies
  std::vector<std::string> parts;              ///< names of the scene's parts
  Overlays overlays;
  std::vector<PictureLabel> labels;  ///< drawn over the picture
  std::vector<std::string> colour_maps;
  std::string gl_renderer, processor, gpu;
  bool gl_on_processor = false;  ///< whether OpenGL renders in software, on the processor that also runs CPU kernels
  bool vsync = true, fullscreen = false, panel = true, help = false;
  bool presentation = false;  ///< a few numbers in large type instead of the panels
  std::string notice;         ///< the viewer's latest message, one line: "wrote shot.png"
  std::vector<KeyHelp> keys;
  std::vector<std::string> quit_question;  ///< activities that quitting would end, one line each; empty: nothing to ask
  bool in_window = true;                   ///< false: offscreen
  Diagnostics diagnostics;
  /// Returns the requested diagnostics, including the picked body.
  Diagnostics wanted_diagnostics() const {
    Diagnostics wanted = diagnostics;
    if (picked) wanted.body = picked->number;
    return wanted;
  }
  /// Current intervals of the checks, longer than requested if these cost too much; 0: never.
  double probe_interval_s = 0, conserved_interval_s = 0;
  std::optional<double> probe_gap_s, conserved_gap_s;  ///< real time between the latest two; none: at most one so far
  std::optional<double> conserved_withheld_s;          ///< time of a pair sum that is too long to start automatically
  std::vector<ConservedProbe> conserved_history;       ///< since the scene's first state, oldest first, at most 512
  /// Time of one force evaluation for all current bodies, in s, by kernel id: measured or estimated. Kernels without
  /// data are missing.
  std::map<std::string, double, std::less<>> evaluation_s;
  double conserved_sum_s = 0;  ///< expected time of a sum of energy and momenta, for the current bodies; 0: not known
  SweepStatus sweep;
  LessonStatus lesson;
  ByType features;  ///< status of each feature, such as RaceStatus
  std::optional<MeasurementInProgress> measurement;
  bool measuring() const { return measurement.has_value(); }
  const MachineUser* second_run = nullptr;  ///< runs the bodies a second time, besides the shown run; null: none
  /// Returns the measurement or the second run in progress; null: none.
  const MachineUser* machine_user() const { return measurement ? measurement->user : second_run; }
  std::optional<PeakRates> peak_rates;  ///< peak rates of the GPU; none: not measured yet, or no GPU
  std::optional<double> clock_mhz;      ///< clock of the GPU's multiprocessors, at most 1 s old; none: not known
  /// Instructions issued by the current kernel's inner loop, from its machine code; none: not known.
  std::optional<double> instructions_per_interaction;
  std::optional<double> mufu_per_interaction;  ///< special-function operations (MUFU) among these instructions
  bool instructions_double = false;            ///< some of these are in double precision, which has another issue rate
  std::string instructions_reason;             ///< why the instructions are not known; empty if they are
};

}  // namespace orrery
