#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/text/parse_value.h"
#include "compute/sim/command.h"

namespace orrery {

// Commands that measure, and that write files.

/// As the last window kept it: see Autosave.
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

/// What the window shows, until StopFilm, at most FilmOptions::fps pictures per second.
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

}  // namespace orrery
