#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "app/cli/view_verb.h"
#include "app/text/parse_value.h"
#include "app/ui_state/camera_path.h"
#include "compute/core/error.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

/// Returns whether the name is a folder's: it has no extension, or such a folder exists.
bool is_folder(const std::string& film) {
  std::error_code unknown;
  const std::filesystem::path path{film};
  return path.extension().empty() || !path.has_filename() || std::filesystem::is_directory(path, unknown);
}

/// Returns `frames` as an integer. Throws UsageError if the film has too many; NaN is too many. `what` ends the film.
std::int64_t film_length(double frames, const std::string& what) {
  if (frames <= static_cast<double>(FilmOptions::lengths.most)) return static_cast<std::int64_t>(frames);
  throw UsageError(fmt::format("{} ends after {:.3g} frames; a film has at most {}", what, frames,
                               format_count(FilmOptions::lengths.most)));
}

/// `orrery render`: renders a film without a window.
struct RenderVerb final : ShownVerb {
  void declare(CommandLine& line) override {
    line.add("--out", "FILE.mp4|FOLDER", "the film, encoded by the program ffmpeg; or a folder for numbered PNG frames",
             [this](const std::string& text) { film.out = file_name("--out", text); });
    line.add("--frames", "K",
             fmt::format("number of frames (that of the path or script; {})", default_offscreen_frames), options.frames,
             FilmOptions::lengths);
    line.add("--fps", "F", fmt::format("frames per second of the film ({:g})", film.fps), film.fps, FilmOptions::rates);
    add_size(line, options.size, "size of the film in pixels, such as 3840x2160 (1280x720)");
    declare_shared(line);
    add_panel(line, "shows the panel in the film (off)");
    add_progress(line, film.progress);
    line.add_footer(
        "Examples:\n"
        "  orrery render --out collision.mp4 --frames 600 --size 1920x1080\n"
        "  orrery render --scene plummer -n 64k --path orbit.txt --out orbit.mp4 --fps 60\n"
        "  orrery render --frames 600 --out frames         keeps the frames that an earlier run made\n"
        "\nNeeds no display. A path: lines 'TIME AZIMUTH ELEVATION DISTANCE X Y Z', in seconds and degrees.");
  }

  void finish(const CommandLine& line) override {
    scene.check(line);
    if (film.out.empty()) {
      throw UsageError("'orrery render' needs the name of the film: --out FILE.mp4 or --out FOLDER");
    }
    film.folder = is_folder(film.out);
    if (film.out == "-" || (!film.folder && std::filesystem::path{film.out}.extension() != ".mp4")) {
      refuse_value("--out", film.out, "a name that ends in .mp4, or that of a folder: one without an extension");
    }
    const auto [width, height] = options.size.value_or(WindowSize{});
    if (!film.folder && (width % 2 != 0 || height % 2 != 0)) {
      throw UsageError(fmt::format("--size cannot be {}x{}; both lengths of an MP4 film must be even", width, height));
    }
    options.film = film;
    options.offscreen = true;
    finish_shared(line);
  }

 private:
  /// Sets the number of frames to the length of the script or path, unless --frames is given.
  void set_length() override {
    if (options.frames) return;
    constexpr double rounding = 1e-6;  // fraction of a frame
    if (const auto quit = std::ranges::find_if(options.script, quits); quit != options.script.end()) {
      options.frames = film_length(static_cast<double>(quit->frame) + 1, "the script '" + options.script_file + "'");
    } else if (options.path && options.path->end_s() > 0) {
      const double frames = std::floor(options.path->end_s() * film.fps + rounding) + 1;
      options.frames = film_length(frames, "the path '" + options.path_file + "'");
    }
  }

  FilmOptions film;
};

}  // namespace

extern constinit const VerbInfo render_verb{"render", "renders a film without a window or display",
                                            create_verb<RenderVerb>};

}  // namespace orrery
