// Commands that measure, record, compare and teach: files, races, profiles, comparisons, lessons, the workshop.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/text/parse_value.h"
#include "compute/core/text.h"
#include "compute/sim/command.h"
#include "compute/sim/command_row.h"

namespace orrery {

// Commands that measure, and that write files.

/// Continues the run that the last window kept, see Autosave.
struct ContinueLastRun {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ContinueLastRun>("continue-last-run", "Continues the run of the last window.");
  }
};

// An empty file name stands for a new file in the folder orrery-out. An existing file is kept: the new file gets a
// number in its name.
struct StartRecording {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<StartRecording>(
        "record", "Starts recording frame timings as CSV.",
        Argument<&StartRecording::file>{{.name = "file", .optional = true, .form = Form::file}});
  }
};

struct StopRecording {
  template <class = void>
  static constexpr auto describe() {
    return command_row<StopRecording>("stop-record", "Stops the recording.");
  }
};

/// Throws UsageError if the extension is not that of a picture.
inline void check_picture_name(const std::string& name) {
  (void)parse_picture_name("a picture's name", name);
}

/// Throws UsageError if the extension is not that of a film.
inline void check_film_name(const std::string& name) {
  (void)parse_film_name("a film's name", name);
}

/// Films what the window shows until StopFilm, with at most FilmOptions::fps pictures per second.
struct StartFilm {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<StartFilm>(
        "film", "Starts a film of the window, as MP4.",
        Argument<&StartFilm::file>{{.name = "file", .optional = true, .form = Form::file, .check = check_film_name}});
  }
};

struct StopFilm {
  template <class = void>
  static constexpr auto describe() {
    return command_row<StopFilm>("stop-film", "Completes the film.");
  }
};

/// The window as it is.
struct SaveScreenshot {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveScreenshot>(
        "screenshot", "Saves the window as a picture, as PNG.",
        Argument<&SaveScreenshot::file>{
            {.name = "file", .optional = true, .form = Form::file, .check = check_picture_name}});
  }
};

/// The window, drawn again with more pixels.
struct SaveEnlarged {
  int times;  ///< as wide and as high as the window
  std::string file;

  static constexpr Range<int> sizes{1, 8};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveEnlarged>(
        "enlarged-screenshot", "Saves the window as a picture that is so many times as wide and as high, as PNG.",
        Argument<&SaveEnlarged::times>{{.name = "times", .range = sizes}},
        Argument<&SaveEnlarged::file>{
            {.name = "file", .optional = true, .form = Form::file, .check = check_picture_name}});
  }
};

/// The bodies without the panels, in a size of its own.
struct SavePicture {
  int width, height;  ///< in pixels
  std::string file;

  static constexpr Range<int> lengths{16, 8192, "pixels"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SavePicture>(
        "picture", "Saves a picture of the bodies alone, of this width and height, as PNG.",
        Argument<&SavePicture::width>{{.name = "width", .range = lengths}},
        Argument<&SavePicture::height>{{.name = "height", .range = lengths}},
        Argument<&SavePicture::file>{
            {.name = "file", .optional = true, .form = Form::file, .check = check_picture_name}});
  }
};

/// The bodies, in the format that the ending of `file` names.
struct SaveSnapshot {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveSnapshot>(
        "save", "Saves the bodies to a file.",
        Argument<&SaveSnapshot::file>{{.name = "file", .optional = true, .form = Form::file}});
  }
};

/// How the run went, to be computed again: see Replay.
struct SaveReplay {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveReplay>("save-replay",
                                   "Saves how the run went, for 'orrery replay', which computes it again.",
                                   Argument<&SaveReplay::file>{{.name = "file", .optional = true, .form = Form::file}});
  }
};

/// The table of results, as CSV.
struct ExportResults {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ExportResults>(
        "export", "Writes the table of results as CSV.",
        Argument<&ExportResults::file>{{.name = "file", .optional = true, .form = Form::file}});
  }
};

/// Throws UsageError if the extension is not that of a page.
inline void check_page_name(const std::string& name) {
  (void)parse_page_name("a page's name", name);
}

/// A page for people: a picture of the view, and what the window has measured.
struct SaveReport {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveReport>(
        "report", "Writes a page with the picture, the results, plots, the settings and the machine, as HTML.",
        Argument<&SaveReport::file>{{.name = "file", .optional = true, .form = Form::file, .check = check_page_name}});
  }
};

struct ClearResults {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ClearResults>("clear-results", "Clears the table of results.");
  }
};

/// Makes a row of ViewStatus::results, counted from 0, the baseline of the rows that are comparable() with it, instead
/// of the present baseline; or unpins it.
struct PinResult {
  int row;
  bool pinned = true;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as users count them, from 1

  template <class = void>
  static constexpr auto describe() {
    return command_row<PinResult>("pin", "Makes a row of the results the baseline of speed-ups; off: unpins it.",
                                  Argument<&PinResult::row>{{.name = "row", .range = PinResult::rows, .first = 1}},
                                  Argument<&PinResult::pinned>{{.name = "pinned", .optional = true}})
        .also("unpin", "pin pinned=off");
  }
};

/// ReturnToRun with a row of ViewStatus::results, counted from 0.
struct ReturnToResult {
  int row;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ReturnToResult>(
        "return", "Returns to the run of a row of the results.",
        Argument<&ReturnToResult::row>{{.name = "row", .range = PinResult::rows, .first = 1}});
  }
};

/// Changes the values that are given and keeps the others.
struct SetDiagnostics {
  std::optional<bool> probe{};
  std::optional<int> sample{};  ///< as ProbeForces, or 0: as many as take at most 2 % of the time
  std::optional<double> conserved_interval_s{};

  static constexpr Range<double> intervals{0, 1e6, "s"};

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetDiagnostics>(
               "diagnostics",
               "Sets what is measured while the system runs: the force error and the conserved quantities.",
               Argument<&SetDiagnostics::probe>{{.name = "probe", .optional = true}},
               Argument<&SetDiagnostics::sample>{
                   {.name = "sample", .optional = true, .range = ProbeForces::range, .word = "auto"}},
               Argument<&SetDiagnostics::conserved_interval_s>{
                   {.name = "conserved", .optional = true, .range = SetDiagnostics::intervals}})
        .also("probe", "diagnostics probe=")
        .also("conserved", "diagnostics conserved=");
  }
};

/// Measures every combination of the values of the tunables, one after the other, on copies of the first state of the
/// present scene.
struct StartSweep {
  std::vector<std::string> kernels;   ///< ids, or "all": all that can run here; empty: the present one
  std::vector<std::string> tunables;  ///< names; empty: settings as they are
  std::vector<int> counts;            ///< empty: the present number of bodies

  template <class = void>
  static constexpr auto describe() {
    return command_row<StartSweep>(
        "sweep", "Measures every combination of the values of the given settings.",
        Argument<&StartSweep::tunables>{{.name = "tunables", .optional = true}},
        Argument<&StartSweep::counts>{{.name = "n", .optional = true, .range = body_counts, .form = Form::count}},
        Argument<&StartSweep::kernels>{{.name = "kernels", .optional = true}});
  }
};

struct StopSweep {
  template <class = void>
  static constexpr auto describe() {
    return command_row<StopSweep>("stop-sweep", "Stops the sweep and keeps what was measured.");
  }
};

/// Runs each combination of a kernel, an integrator and a time step from the first state of the present scene to the
/// same time, one after the other, on a simulation of their own.
struct StartRace {
  double until = 0;                        ///< the time at the end
  std::vector<std::string> kernels{};      ///< ids; empty: the present one, and one that gives jerks
  std::vector<std::string> integrators{};  ///< ids; empty: all that the kernels can run
  std::vector<float> time_steps{};         ///< empty: multiples of the present one

  static constexpr Range<double> ends{0, std::numeric_limits<double>::infinity(), "in units of time", /*open=*/true};

  template <class = void>
  static constexpr auto describe() {
    return command_row<StartRace>(
        "race", "Measures the time to solution: how fast and how exactly each combination reaches the same time.",
        Argument<&StartRace::until>{{.name = "until", .range = StartRace::ends}},
        Argument<&StartRace::kernels>{{.name = "kernels", .optional = true}},
        Argument<&StartRace::integrators>{{.name = "integrators", .optional = true, .check = check_integrator}},
        Argument<&StartRace::time_steps>{{.name = "dt", .optional = true, .range = SetTimeStep::range}});
  }
};

struct StopRace {
  template <class = void>
  static constexpr auto describe() {
    return command_row<StopRace>("stop-race", "Stops the race and keeps what was measured.");
  }
};

/// Profiles the present kernel and settings in a process of their own, from the first state of the present scene.
struct ProfileKernel {
  template <class = void>
  static constexpr auto describe() {
    return command_row<ProfileKernel>("profile", "Measures where the time of the present kernel goes.");
  }
};

/// Chooses the row of ProfileStatus::profiles, counted from 0, that the latest one is compared with.
struct CompareProfile {
  static constexpr int previous = std::numeric_limits<int>::min() / 2;  ///< the one before it

  int row = previous;

  static constexpr Range<int> rows{1, std::numeric_limits<int>::max()};  ///< as users count them, from 1

  template <class = void>
  static constexpr auto describe() {
    return command_row<CompareProfile>("compare-profile", "Compares the latest profile with an earlier one.",
                                       Argument<&CompareProfile::row>{{.name = "row",
                                                                       .range = CompareProfile::rows,
                                                                       .word = "last",
                                                                       .word_number = CompareProfile::previous,
                                                                       .first = 1}});
  }
};

// Commands that compare two runs of the same bodies.

/// Runs the bodies a second time from their present state: B beside A, the run of the window. If A gets another kernel,
/// physics or bodies, the comparison begins anew from there.
struct CompareWith {
  std::optional<std::string> kernel{};  ///< of B; none: ends the comparison
  Settings::Values settings{};          ///< a setting that is not named has its initial value
  std::string integrator{};             ///< empty: that of A
  std::optional<float> time_step{};     ///< none: that of A
  double nudge = 0;                     ///< moves each body of B by this length at the start

  static constexpr Range<double> nudges{0, 1e30, "in units of length"};
  friend bool operator==(const CompareWith&, const CompareWith&) = default;

  template <class = void>
  static constexpr auto describe() {
    return command_row<CompareWith>(
        "compare-with",
        "Runs the bodies a second time from their present state, with another kernel, integrator or time step.",
        Argument<&CompareWith::kernel>{{.name = "kernel", .word = "off"}},
        Argument<&CompareWith::settings>{{.name = "settings", .optional = true}},
        Argument<&CompareWith::integrator>{{.name = "integrator", .optional = true, .check = check_integrator}},
        Argument<&CompareWith::time_step>{{.name = "dt", .optional = true, .range = SetTimeStep::range}},
        Argument<&CompareWith::nudge>{{.name = "nudge", .optional = true, .range = CompareWith::nudges}});
  }
};

/// Where the two runs are drawn.
enum class CompareLayout {
  side,  ///< A at the left, B at the right
  over   ///< both in one picture, in two colours
};

struct SetCompareLayout {
  CompareLayout layout = CompareLayout::side;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SetCompareLayout>("compare-layout",
                                         "Draws the two runs side by side, or one over the other in two colours.",
                                         Argument<&SetCompareLayout::layout>{{.name = "layout"}});
  }
};

template <>
struct EnumWords<CompareLayout> {
  static constexpr std::array<std::pair<CompareLayout, std::string_view>, 2> all() {
    return {{{CompareLayout::side, "side"}, {CompareLayout::over, "over"}}};
  }
};

/// The pages of a lesson, in their order.
enum class LessonPage { read, predict, measure, answer, change };

inline constexpr int lesson_pages = 5;

template <>
struct EnumWords<LessonPage> {
  static constexpr std::array<std::pair<LessonPage, std::string_view>, lesson_pages> all() {
    return {{{LessonPage::read, "read"},
             {LessonPage::predict, "predict"},
             {LessonPage::measure, "measure"},
             {LessonPage::answer, "answer"},
             {LessonPage::change, "change"}}};
  }
};

struct ShowLesson {
  std::optional<int> number;  ///< empty: the list

  static constexpr Range<int> numbers{1, 99};

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowLesson>(
        "lesson", "Opens a lesson, or the list of lessons.",
        Argument<&ShowLesson::number>{{.name = "number", .range = ShowLesson::numbers, .word = "list"}});
  }
};

struct ShowLessonFile {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<ShowLessonFile>("lesson-file", "Opens a lesson of your own.",
                                       Argument<&ShowLessonFile::file>{{.name = "file", .form = Form::file}});
  }
};

struct CloseLesson {
  template <class = void>
  static constexpr auto describe() {
    return command_row<CloseLesson>("close-lesson", "Closes the lesson or the list of lessons.");
  }
};

struct TurnLessonPage {
  LessonPage page;

  template <class = void>
  static constexpr auto describe() {
    return command_row<TurnLessonPage>("lesson-page", "Turns to a page of the lesson.",
                                       Argument<&TurnLessonPage::page>{{.name = "page"}});
  }
};

struct SetLessonScene {
  template <class = void>
  static constexpr auto describe() {
    return command_row<SetLessonScene>("lesson-scene", "Loads the scene of the lesson, with its first kernel.");
  }
};

/// A choice of the lesson's question, counted from 0.
struct PredictLesson {
  int choice;

  static constexpr Range<int> choices{1, 6};  ///< as users count them, from 1

  template <class = void>
  static constexpr auto describe() {
    return command_row<PredictLesson>(
        "lesson-predict", "Predicts the answer to the lesson's question.",
        Argument<&PredictLesson::choice>{{.name = "choice", .range = PredictLesson::choices, .first = 1}});
  }
};

struct MeasureLesson {
  bool on = true;

  template <class = void>
  static constexpr auto describe() {
    return command_row<MeasureLesson>("lesson-measure", "Measures what the lesson compares; off: stops that.",
                                      Argument<&MeasureLesson::on>{{.name = "on", .optional = true}});
  }
};

struct OpenKernelFile {
  std::string file;

  template <class = void>
  static constexpr auto describe() {
    return command_row<OpenKernelFile>("workshop-open",
                                       "Opens a kernel file: it is compiled and checked whenever it is saved.",
                                       Argument<&OpenKernelFile::file>{{.name = "file", .form = Form::file}});
  }
};

struct CloseKernelFile {
  template <class = void>
  static constexpr auto describe() {
    return command_row<CloseKernelFile>("workshop-close", "Closes the kernel file; its kernel stays.");
  }
};

struct CompileKernelFile {
  template <class = void>
  static constexpr auto describe() {
    return command_row<CompileKernelFile>("workshop-compile", "Compiles and checks the kernel file once more.");
  }
};

struct SaveKernelFile {
  std::string text;

  template <class = void>
  static constexpr auto describe() {
    return command_row<SaveKernelFile>("workshop-save", "Replaces the text of the open kernel file.",
                                       Argument<&SaveKernelFile::text>{{.name = "text"}});
  }
};

struct NewKernelFile {
  std::string id;
  std::string from;  ///< empty: the shortest starting point

  template <class = void>
  static constexpr auto describe() {
    return command_row<NewKernelFile>("workshop-new",
                                      "Writes a new kernel file, ID.cu, in the working folder, and opens it.",
                                      Argument<&NewKernelFile::id>{{.name = "id"}},
                                      Argument<&NewKernelFile::from>{{.name = "from", .optional = true}});
  }
};

struct BringKernelBack {
  int version;

  static constexpr Range<int> versions{1, 1'000'000};

  template <class = void>
  static constexpr auto describe() {
    return command_row<BringKernelBack>(
        "workshop-bring-back", "Writes an earlier version of the kernel file as its newest one.",
        Argument<&BringKernelBack::version>{{.name = "version", .range = BringKernelBack::versions}});
  }
};

}  // namespace orrery
