// All values that the window shows, as plain data made once per frame.
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <vector>

#include "app/colours/body_colour.h"
#include "app/lab/measurement.h"
#include "app/text/console.h"
#include "app/text/markdown.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/command.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/cuda/peak_rates.h"
#include "compute/sim/command.h"
#include "render/appearance.h"

namespace orrery {

using SrgbColour = std::array<float, 3>;  ///< sRGB components, 0 to 1

/// A colour and its meaning, such as a part of the scene.
struct LegendPart {
  std::string name{};
  SrgbColour colour{};
};

/// Meaning of the colours and lengths of the picture, in units of G = 1.
struct Legend {
  std::string quantity;               ///< quantity shown by the colours, such as "speed"; empty: none
  float low = 0, high = 1;            ///< ends of the range if there are `colours`; values beyond have the end colours
  bool logarithmic = false;           ///< colours are evenly spaced in the value's logarithm
  std::vector<SrgbColour> colours{};  ///< from low to high; empty: the range is not known, or there are `parts`
  /// Names of low and high, such as "dt / 8", if the values are classes with one of `colours` each. Empty if the values
  /// are continuous.
  std::string low_class{}, high_class{};
  float world_per_height = 0;             ///< length that the window's height represents at the camera's target
  std::string unit{};                     ///< unit of the quantity: "length / time"
  std::optional<Dimension> dimension{};   ///< dimension of the quantity; none: it has no unit
  std::optional<float> below{}, above{};  ///< fractions of the bodies below low and above high; none: not known
  std::vector<LegendPart> parts{};        ///< set if the colours show parts of the scene or a single value
  std::optional<float> known{};           ///< fraction of the bodies whose values are known; the others are grey
  std::string note{};                     ///< why values are not known
  float trail_length = 0;                 ///< time span of the trails; 0: no trails
  LegendPart arrows{};                    ///< quantity shown by the arrows: "velocity"; no name: no arrows
  float arrow_per_height = 0;             ///< value of an arrow as long as the window's height, at the camera's target
  LegendPart cells{};                     ///< "level 5: 1,203 cells"; no name: no cells are drawn
  std::vector<LegendPart> walk{};         ///< cells that a body's tree walk meets; empty: none are drawn
  std::string tick{};                     ///< length between two ticks of the axes; empty: no axes
};

/// A text label in the picture.
struct PictureLabel {
  std::string text;
  std::array<float, 2> place{};   ///< middle of the text, in fractions of the window from its upper left corner
  std::array<float, 3> colour{};  ///< sRGB, 0 to 1
  bool strong = false;            ///< emphasized: a name rather than a number
};

/// Returns the largest number 1, 2 or 5 times a power of ten that is at most `length` > 0.
inline double round_length(double length) {
  const double decade = std::pow(10, std::floor(std::log10(length)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * decade <= length) return factor * decade;
  }
  return decade;
}

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

/// The parts of one frame's time, in ms. `map_ms` and `unmap_ms` are those of the latest measured batch of steps.
struct FrameTimes {
  double map_ms = 0;  ///< mapping for CUDA, or the copy if staged or host
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

/// Returns the decade of the median force error: k for errors above 10^(k-1), up to 10^k. All errors up to 1e-5 have
/// class -5, because errors of fp32 direct sums lie on both sides of 1e-6. Returns none if the error is not known or
/// not finite.
inline std::optional<int> accuracy_class(const std::optional<ForceError>& error) {
  constexpr int full = -5;
  if (!error || !(error->median >= 0) || !std::isfinite(error->median)) return std::nullopt;
  if (error->median == 0) return full;
  return std::max(full, static_cast<int>(std::ceil(std::log10(error->median))));
}

/// Returns whether both rows have the same bodies and law, and were measured in the same way. The median of a sweep and
/// the best median of a shown run differ.
inline bool same_subject(const Result& a, const Result& b) {
  return a.swept == b.swept && a.scene == b.scene && a.count == b.count && a.law == b.law;
}

/// Returns whether one row can be the baseline of the other: same subject and same accuracy class.
inline bool comparable(const Result& a, const Result& b) {
  const std::optional<int> accuracy = accuracy_class(a.error);
  return same_subject(a, b) && accuracy && accuracy == accuracy_class(b.error);
}

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

/// A measurement in progress. The shown run does not step during it.
struct MeasurementInProgress {
  const MachineUser* user;
  double done = 0;                 ///< completed fraction, 0 to 1
  std::optional<double> left_s{};  ///< estimated time until the end; none: not known
};

/// Makes a MeasurementInProgress from `done` of `total` parts and `left_s`, which is 0 if not known.
inline MeasurementInProgress in_progress(const MachineUser& user, int done, int total, double left_s) {
  return {&user, part_of(done, total), left_s > 0 ? std::optional{left_s} : std::nullopt};
}

/// One value of each type, value-initialized on first access. Features keep values here in owners that do not know
/// their types.
class ByType {
 public:
  template <class T>
  T& of() {
    std::any& value = values_[typeid(T)];
    if (!value.has_value()) value.emplace<T>();
    return *std::any_cast<T>(&value);
  }
  template <class T>
  const T& of() const {
    static const T initial{};
    const auto found = values_.find(typeid(T));
    return found == values_.end() ? initial : *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> values_;
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
  double step_ms_median = 0;  ///< of one step: the median of the last 120 measured batches
  int measured = 0;           ///< batches in that median; 0 until the current kernel, count and law were measured
  std::vector<float> step_ms_history;  ///< oldest first, at most 240
  std::vector<Result> results;         ///< in the order in which they were first tried
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
