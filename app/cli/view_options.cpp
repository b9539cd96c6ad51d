// The options of `orrery view` and `orrery render`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "app/camera_path/camera_path.h"
#include "app/cli/option_parts.h"
#include "app/cli/read_script.h"
#include "app/commands/argument_text.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr std::int64_t any_large = std::numeric_limits<std::int64_t>::max();

/// Adds the options that view and render have in common.
void add_shown_run(CLI::App& app, OptionDraft& draft) {
  ViewOptions& view = draft.view;
  add_scene(app, draft, "N", "number of bodies, such as 16384, 16k (k = 1024) or 1M (the scene's)");
  add_watched_kernel_file(app, draft);
  add_kernel(app, draft, "kernel to start with (orrery kernels); default auto: the fastest that is accurate enough");
  add_accuracy(app, draft);
  add_settings(app, draft, "VALUE", "changes a setting of the kernel; repeatable");
  add_physics(app, draft);
  add(app, "--steps-per-frame", "K",
      "steps per frame: " + allowed_text(argument_of<&SetStepsPerFrame::steps>()) + " (the scene's)",
      [&](const std::string& text) {
        draft.physics.push_back(SetStepsPerFrame{read_option<&SetStepsPerFrame::steps>("--steps-per-frame", text)});
      });
  add_file(app, "--resume", "continues the run of a checkpoint (orrery run)", view.resume_file);
  add_file(app, "--record", "records frame timings as CSV", view.record_file);
  add_file(app, "--script", "runs a script: lines 'FRAME COMMAND ARGUMENTS'", view.script_file);
  add_file(app, "--path", "moves the camera along the key frames of a file", view.path_file);
  add_file(app, "--save", "saves the bodies at the end: " + snapshot_titles(), view.save_file);
  add_byte_order(app, draft.save_order, "byte order of --save: big or little (TIPSY: big; others: little)");
  add_theme(app, view);
  add_force(app, draft);
  add_device(app, draft);
  add_devices(app, draft);
}

bool selects_attract_repel(const ScriptLine& line) {
  const auto* select = command_if<SelectLaw>(line.request);
  return select && find_law(select->id) == LawId::attract_repel;
}

bool quits(const ScriptLine& line) {
  return command_if<Quit>(line.request) != nullptr;
}

/// A line that no frame carries out is a mistake. The lines of a quit's own frame are all carried out.
void refuse_lines_after_the_end(const ViewOptions& view) {
  const auto quit = std::ranges::find_if(view.script, quits);
  for (const ScriptLine& line : view.script) {
    const std::string place = fmt::format("{}:{}: frame {} never comes", view.script_file, line.line, line.frame);
    if (view.frames && line.frame >= *view.frames) {
      throw UsageError(fmt::format("{}: the run ends after {}, counted from 0; --frames {} would reach it", place,
                                   counted(*view.frames, "frame"), line.frame + 1));
    }
    if (quit != view.script.end() && line.frame > quit->frame) {
      throw UsageError(fmt::format("{}: line {} quits at frame {}", place, quit->line, quit->frame));
    }
  }
}

/// Throws if a film that ends with `what` has too many frames; NaN is too many.
std::int64_t film_length(double frames, const std::string& what) {
  if (frames <= static_cast<double>(FilmOptions::lengths.most)) return static_cast<std::int64_t>(frames);
  throw UsageError(fmt::format("{} ends after {:.3g} frames; a film has at most {}", what, frames,
                               format_count(FilmOptions::lengths.most)));
}

/// Sets the length of a film without --frames: that of its script or its path.
void set_length(ViewOptions& view) {
  if (view.frames) return;
  constexpr double rounding = 1e-6;  // of a frame
  if (const auto quit = std::ranges::find_if(view.script, quits); quit != view.script.end()) {
    view.frames = film_length(static_cast<double>(quit->frame) + 1, "the script '" + view.script_file + "'");
  } else if (view.path && view.path->end_s() > 0) {
    const double frames = std::floor(view.path->end_s() * view.film->fps + rounding) + 1;
    view.frames = film_length(frames, "the path '" + view.path_file + "'");
  }
}

/// A folder has no extension, or is there already.
bool is_folder(const std::string& film) {
  std::error_code unknown;
  const std::filesystem::path path{film};
  return path.extension().empty() || !path.has_filename() || std::filesystem::is_directory(path, unknown);
}

}  // namespace

void declare_view(CLI::App& app, OptionDraft& draft) {
  ViewOptions& view = draft.view;
  add_shown_run(app, draft);
  add(app, "--frames", "K", fmt::format("number of frames (until closed; offscreen: {})", default_offscreen_frames),
      [&](const std::string& text) { view.frames = parse_integer("--frames", text, 1, any_large); });
  add(app, "--screenshot", "FILE.png", "saves the last frame as PNG", [&](const std::string& text) {
    view.screenshot_file = parse_picture_name("--screenshot", file_name("--screenshot", text));
  });
  add_size(app, draft, "size of the window in pixels (1280x720)");
  add_panel(app, draft, "shows the panel (on; offscreen: off)");
  add(app, "--vsync", "on|off", "waits for the display (on; offscreen: off)",
      [&](const std::string& text) { draft.vsync = parse_switch("--vsync", text); });
  add(app, "--autosave-s", "S",
      fmt::format("seconds after which the run is kept for the next window ({:g}); 0: never", view.autosave_s),
      [&](const std::string& text) { view.autosave_s = parse_in("--autosave-s", text, ViewOptions::autosave_times); });
  add_flag(app, "--fresh", view.fresh,
           "starts with the initial window, panels and colours, not the last session's; keeps no run");
  add_flag(app, "--offscreen", view.offscreen, "runs without a window or display");
  app.footer(
      "Examples:\n"
      "  orrery                                          the collision of two galaxies, 16384 bodies\n"
      "  orrery --scene plummer -n 64k --kernel cuda-tiled --block 128\n"
      "  orrery galaxy.bin --record run.csv              bodies from a TIPSY file; timings to run.csv\n"
      "  orrery --offscreen --frames 300 --screenshot last.png\n"
      "\nA script: '0 kernel cpu-openmp', '100 set chunk 16', '200 screenshot a.png', '300 quit'; one per line. "
      "'orrery help script' lists all commands.");
}

ViewOptions finish_view(OptionDraft& draft) {
  ViewOptions& view = draft.view;
  draft.put_devices(view);
  view.scene = draft.scene;
  view.existing = draft.existing();
  if (!draft.counts.empty()) view.scene.count = draft.counts.front();
  view.panel = draft.panel.value_or(!view.offscreen);
  view.legend = draft.legend.value_or(draft.panel.value_or(true));
  if (view.offscreen && draft.vsync.value_or(false)) {
    throw UsageError("--vsync on cannot be used with --offscreen: there is no display to wait for");
  }
  refuse_small_size(view.size, !view.offscreen || view.panel);
  view.vsync = draft.vsync.value_or(!view.offscreen);
  if (draft.save_order && view.save_file.empty()) {
    throw UsageError("--byte-order is that of the file of --save, which is not given: add --save FILE");
  }
  view.save_order = draft.save_order;
  if (!view.resume_file.empty()) refuse_what_a_checkpoint_decides(draft);
  add_law_command(draft);
  view.setup = draft.physics;
  const KernelSelection kernel = first_kernel(draft);
  if (!kernel.automatic && view.script_file.empty()) refuse_accuracy_of_a_kernel(draft, "--kernel");
  if (draft.accuracy) view.setup.push_back(SetAccuracy{*draft.accuracy});
  if (view.resume_file.empty()) set_first_kernel(view.setup, view.settings, kernel, draft.axes);
  if (!view.path_file.empty() && !draft.takes_over) view.path = read_camera_path(view.path_file);
  if (!view.script_file.empty()) {
    view.script = read_script(view.script_file, draft.catalog, kernel, !view.kernel_file.empty());
  }
  if (view.film) set_length(view);
  if (view.offscreen && !view.frames && std::ranges::none_of(view.script, quits)) {
    view.frames = default_offscreen_frames;
  }
  refuse_lines_after_the_end(view);
  refuse_constants_without_their_law(
      draft, draft.law == LawId::attract_repel || std::ranges::any_of(view.script, selects_attract_repel));
  return view;
}

void declare_render(CLI::App& app, OptionDraft& draft) {
  add(app, "--out", "FILE.mp4|FOLDER", "the film, encoded by the program ffmpeg; or a folder for numbered PNG frames",
      [&](const std::string& text) { draft.film = file_name("--out", text); });
  add(app, "--frames", "K", fmt::format("number of frames (that of the path or script; {})", default_offscreen_frames),
      [&](const std::string& text) { draft.view.frames = parse_in("--frames", text, FilmOptions::lengths); });
  add(app, "--fps", "F", fmt::format("frames per second of the film ({:g})", draft.fps),
      [&](const std::string& text) { draft.fps = parse_in("--fps", text, FilmOptions::rates); });
  add_size(app, draft, "size of the film in pixels, such as 3840x2160 (1280x720)");
  add_shown_run(app, draft);
  add_panel(app, draft, "shows the panel in the film (off)");
  add_flag(app, "--progress", draft.progress, "shows progress even if stderr is not a terminal");
  app.footer(
      "Examples:\n"
      "  orrery render --out collision.mp4 --frames 600 --size 1920x1080\n"
      "  orrery render --scene plummer -n 64k --path orbit.txt --out orbit.mp4 --fps 60\n"
      "  orrery render --frames 600 --out frames         keeps the frames that an earlier run made\n"
      "\nNeeds no display. A path: lines 'TIME AZIMUTH ELEVATION DISTANCE X Y Z', in seconds and degrees.");
}

ViewOptions finish_render(OptionDraft& draft) {
  if (draft.film.empty())
    throw UsageError("'orrery render' needs the name of the film: --out FILE.mp4 or --out FOLDER");
  const bool folder = is_folder(draft.film);
  if (draft.film == "-" || (!folder && std::filesystem::path{draft.film}.extension() != ".mp4")) {
    refuse_value("--out", draft.film, "a name that ends in .mp4, or that of a folder: one without an extension");
  }
  const auto [width, height] = draft.view.size.value_or(WindowSize{});
  if (!folder && (width % 2 != 0 || height % 2 != 0)) {
    throw UsageError(fmt::format("--size cannot be {}x{}; both lengths of an MP4 film must be even", width, height));
  }
  draft.view.film = FilmOptions{.out = draft.film, .folder = folder, .fps = draft.fps, .progress = draft.progress};
  draft.view.offscreen = true;
  return finish_view(draft);
}

}  // namespace orrery
