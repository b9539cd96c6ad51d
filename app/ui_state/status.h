// Everything the window shows, as plain values that are made once per frame.
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

/// The body that the user picked, in units of G = 1.
struct PickedBody {
  int number = 0;      ///< counted from 0
  std::string part{};  ///< of the scene: "halo", "star"; empty if the scene has no parts
  float mass = 0;
  std::array<float, 3> position{}, velocity{};
  float distance = 0;  ///< from the camera's target
  /// Where it is seen, in shares of the window from its upper left corner; none if it is behind the camera.
  std::optional<std::array<float, 2>> place{};
  /// The mean between the two latest readings; none if they are of the same time.
  std::optional<std::array<float, 3>> acceleration{};
  /// Number of cells and bodies that its group of neighbours meets in the tree; none if that was not read.
  struct Walk {
    std::int64_t cells, bodies;
  };
  std::optional<Walk> walk{};
};

/// A row of a lesson with its measurement.
struct LessonRowStatus {
  std::string label, what;  ///< what: "cpu-symmetric tile=64, 4,096 bodies"
  Measurement measurement;
};

struct LessonTitle {
  int number;
  std::string title;
};

/// The lessons as the window shows them.
struct LessonStatus {
  std::vector<LessonTitle> titles;  ///< of all lessons
  bool shown = false;
  bool listed = true;  ///< the list is shown rather than a lesson; the values below are those of the last lesson
  int number = 0;      ///< 0: of a file
  std::chrono::steady_clock::time_point opened{};
  std::string title;
  LessonPage page = LessonPage::read;
  std::string machine;  ///< what is measured here
  TextBlocks introduction, scene, predict, measure, answer, change;
  std::vector<std::string> choices;
  std::optional<int> predicted;  ///< of the choices
  std::vector<LessonRowStatus> rows;
  bool measuring = false, measured = false;
  std::string present;      ///< as SweepStatus::present
  int done = 0, total = 0;  ///< rows
  double left_s = 0;
  std::string verdict;      ///< what decides the question, measured here; empty until it is
  std::vector<bool> right;  ///< of the choices, one at most; all false: not known or not decided
};

/// How positions get from the kernels to the renderer, best first.
enum class Interop {
  mapped,  ///< CUDA kernels write the drawn GL buffer itself
  staged,  ///< CUDA kernels write their own memory; a copy through pinned host memory reaches GL
  host,    ///< a CPU kernel is running: its arrays are uploaded
};

inline const char* to_string(Interop interop) {
  return interop == Interop::mapped ? "mapped" : interop == Interop::staged ? "staged" : "host";
}

/// The parts of one frame's time, in ms. map to integrate are those of the latest measured batch of steps.
struct FrameTimes {
  double map_ms = 0;                      ///< mapping for CUDA, or the copy if staged or host
  double force_ms = 0, integrate_ms = 0;  ///< all steps of the frame together
  double unmap_ms = 0;
  double draw_ms = 0;   ///< GPU time by a GL timer query
  double gui_ms = 0;    ///< CPU time of building and submitting the panels
  double swap_ms = 0;   ///< CPU time in the buffer swap, mostly waiting for the display
  double frame_ms = 0;  ///< from one frame's start to the next
};

/// One row of the table of results. If it was measured while it was shown, step_ms has only the median: the best one
/// of a window of consecutive steps.
struct Result : Measurement {
  bool pinned = false;              ///< the baseline of the rows that are comparable() with it
  std::optional<double> speedup{};  ///< over the pinned row; none: no pinned row is comparable()
  bool swept = false;               ///< measured by a sweep rather than while it was shown
};

/// The sizes of sample for a comparison of forces.
inline constexpr std::array probe_samples{256, 1024, 4096};

/// How often the running system is examined.
struct Diagnostics {
  bool probe = true;                ///< compare forces with fp64 sums every 0.5 s
  int sample = 0;                   ///< bodies to compare, one of probe_samples; 0: automatic
  double conserved_interval_s = 0;  ///< between sums of energy and momenta, in s; 0: never
  bool every_body = false;          ///< compare other bodies each time, also while paused
  /// Compare this one as well, soon and also while paused if its error is not known.
  int body = ComparedBodies::nobody;
};

struct SweepStatus {
  bool active = false;
  std::string present;      ///< what is being measured: "cuda-tiled block=256, 16,384 bodies"
  int done = 0, total = 0;  ///< variants
  double left_s = 0;        ///< until the end, estimated
  std::vector<Measurement> rows;
  std::vector<double> held_s{};    ///< of the first rows: the longest time that each delayed the next frame
  std::vector<std::string> files;  ///< that the last sweep wrote
  std::string error;               ///< why the last sweep ended by itself, or a file was not written
};

struct RecordingStatus {
  bool active = false;
  std::string file;
  std::int64_t rows = 0;
  std::string error;  ///< why the last recording ended by itself, one line; empty otherwise
};

struct KeyHelp {
  std::string keys, action;
  std::string group{};  ///< the heading that begins here; empty: that of the line before
};

/// Everything that panels show beyond Status: a plain value, filled in once per frame.
struct ViewStatus {
  std::optional<double> last_run_age_s;  ///< since the last window's run was kept; none: it cannot be continued
  std::string last_run_words;            ///< "plummer, 16,384 bodies, t = 1.25"; empty: not known
  std::vector<KernelPtr> kernels;        ///< all that can be selected, in the order of the catalog
  KernelPtr jerk_kernel;                 ///< this machine's default kernel that gives jerks; null: not known
  BackendStatuses backends;
  const BackendStatus& backend(Backend which) const { return backends[static_cast<std::size_t>(which)]; }

  FrameTimes times;
  double step_ms_last = 0, step_ms_median = 0;  ///< of one step; the median of the last 120 measured batches
  int measured = 0;  ///< batches in that median; 0 until the current kernel, count and law were measured
  std::vector<float> step_ms_history;  ///< oldest first, at most 240
  std::vector<Result> results;         ///< in the order in which they were first tried
  RecordingStatus recording;
  Interop interop = Interop::host;
  std::string interop_reason;  ///< why not `mapped`, and what cures it; empty when mapped
  render::Appearance appearance;
  render::Drawing drawn = render::Drawing::sprites;  ///< how the last frame was drawn; never `automatic`
  Legend legend;
  bool legend_shown = true;
  std::optional<PickedBody> picked;
  Follow followed{.what = Followed::nothing};  ///< by the camera
  bool framed_all = false;                     ///< the camera has not been moved since FrameAll of all bodies
  std::vector<std::string> parts;              ///< of the scene: their names
  Overlays overlays;
  std::vector<PictureLabel> labels;  ///< over the picture
  std::vector<std::string> colour_maps;
  std::string gl_renderer, processor, gpu;
  bool gl_on_processor = false;  ///< OpenGL draws in software, on the processor that CPU kernels run on
  bool vsync = true, fullscreen = false, panel = true, help = false;
  bool presentation = false;  ///< few numbers in large type instead of the panels
  std::string notice;         ///< the viewer's latest message ("wrote shot.png"), one line
  std::vector<KeyHelp> keys;
  std::vector<std::string> quit_question;  ///< what quitting would end, one line each; empty: no question
  bool in_window = true;                   ///< false: offscreen
  Diagnostics diagnostics;
  /// These, with the picked body beside them.
  Diagnostics wanted_diagnostics() const {
    Diagnostics wanted = diagnostics;
    if (picked) wanted.body = picked->number;
    return wanted;
  }
  double probe_interval_s = 0, conserved_interval_s = 0;  ///< in force: longer than asked for if they cost too much;
                                                          ///< 0: never
  std::optional<double> probe_gap_s, conserved_gap_s;     ///< between the latest two, in real time; none: one at most
  std::optional<double> conserved_withheld_s;     ///< time of a sum over all pairs that is too long to be made unasked
  std::vector<ConservedProbe> conserved_history;  ///< since the scene's first state, oldest first, at most 512
  /// One evaluation of the forces of all current bodies, in s, by kernel id: measured, or a guess. Kernels of which
  /// nothing is known are not there.
  std::map<std::string, double, std::less<>> evaluation_s;
  double conserved_sum_s = 0;  ///< of energy and momenta, expected for the current bodies; 0: not known
  SweepStatus sweep;
  LessonStatus lesson;
  ByType features;  ///< the status of each feature, such as RaceStatus
  std::optional<MeasurementInProgress> measurement;
  bool measuring() const { return measurement.has_value(); }
  const MachineUser* second_run = nullptr;  ///< who runs the bodies a second time, beside the shown run; null: nobody
  /// The measurement or the second run in progress; null: none.
  const MachineUser* machine_user() const { return measurement ? measurement->user : second_run; }
  std::optional<PeakRates> peak_rates;  ///< of the GPU; none: not measured yet, or no GPU
  std::optional<double> clock_mhz;      ///< of the GPU's multiprocessors, at most 1 s old; none: not known
  std::optional<double> instructions_per_interaction;  ///< that the current kernel's inner loop issues,
                                                       ///< from its machine code; none: not known here
  std::optional<double> mufu_per_interaction;          ///< operations of the special function units among them
  bool instructions_double = false;  ///< some of these are in double precision and issue at another rate
  std::string instructions_reason;   ///< why they are not known; empty if they are
};

}  // namespace orrery
