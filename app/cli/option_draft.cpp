#include "app/cli/option_draft.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <limits>

#include "app/cli/option_parts.h"
#include "app/commands/argument_text.h"
#include "app/lessons/library.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/scenes/scene.h"
#include "compute/snapshots/snapshot_format.h"

namespace orrery {
namespace {

constexpr std::int64_t any_large = std::numeric_limits<std::int64_t>::max();

/// What view and render have in common.
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

}  // namespace

SceneRequest OptionDraft::scene_of_one_count() const {
  SceneRequest asked = scene;
  if (!counts.empty()) asked.count = counts.front();
  if (asked.file.empty()) (void)allowed_count(find_scene(asked.scene), asked.count);
  return asked;
}

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

void declare_bench(CLI::App& app, OptionDraft& draft) {
  BenchOptions& bench = draft.bench;
  add_scene(app, draft, "LIST", "numbers of bodies: 1k,4k,16k (the scene's)");
  add_kernel_file(app, draft, FileKernelUse::plain, "measures a kernel of your own; repeatable");
  add_measured_kernels(app, draft);
  add_measurement(app, draft, bench.table, bench.progress, bench.files);
  add_devices(app, draft);
  add(app, "--warmup", "W", "steps before measuring, at least 2 (3)", [&](const std::string& text) {
    bench.warmup_steps = static_cast<int>(parse_integer("--warmup", text, 0, 1'000'000));
    draft.procedure_option = "--warmup";
  });
  add_repeats(app, draft);
  add(app, "--protocol", "uth", "measures as source 003 does: mean of 10 runs of 10 steps, three numbers of bodies",
      [&](const std::string& text) {
        (void)parse_choice("--protocol", text, std::array<std::string_view, 1>{"uth"});
        bench.uth = true;
      });
  add(
      app, "--baseline", "FILE",
      "compares with the JSON or CSV of an earlier run, repeatable; exit status 1 if a result is slower",
      [&](const std::string& text) { bench.baseline_files.push_back(file_name("--baseline", text)); }, true);
  add(app, "--noise", "PERCENT",
      fmt::format("for --baseline: medians that differ by at most this are unchanged ({:g})", usual_noise),
      [&](const std::string& text) {
        draft.noise = parse_in("--noise", text, Range<double>{0, 1000});
      });
  add_flag(app, "--card", bench.card,
           "prints registers, occupancy, waves, instructions and shares of the GPU's peak rates");
  add_physics(app, draft);
  app.footer(fmt::format(
      "Examples:\n"
      "  orrery bench --kernels cuda-naive,cuda-tiled -n 4k,16k,64k --set block=64,128,256 --csv sweep.csv\n"
      "  orrery bench galaxy.bin --kernels all --repeat 30 --json galaxy.json\n"
      "  orrery bench galaxy.bin --kernels all --repeat 30 --baseline galaxy.json\n"
      "\nPrints a table: the time per step (median, minimum and 95 % interval of the median), interactions/s, GFLOP/s "
      "at {} flop per interaction (empty for trees), and the force error against a sum in double precision. A ranking "
      "follows: variants with overlapping intervals share their ranks. Ctrl+C ends it and keeps what was measured.",
      flop_per_interaction));
}

void declare_report(CLI::App& app, OptionDraft& draft) {
  ReportOptions& report = draft.report;
  add(app, "--out", "FILE.html", "the page",
      [&](const std::string& text) { report.file = parse_page_name("--out", file_name("--out", text)); });
  add_scene(app, draft, "LIST", "numbers of bodies: 1k,4k,16k (the scene's; without a GPU 8k)");
  add_measured_kernels(app, draft);
  add_setting_lists(app, draft);
  add_repeats(app, draft);
  add(app, "--budget", "S", "ends measuring after S seconds; the page has what was measured until then",
      [&](const std::string& text) {
        report.budget_s = parse_in("--budget", text, Range<double>{0, 1e6, "s"});
      });
  add_physics(app, draft);
  add_size(app, draft, "size of the picture in pixels (1280x720)");
  add_theme(app, draft.view);
  add_force(app, draft);
  add_progress(app, draft.bench.progress);
  add_device(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery report --out report.html\n"
      "  orrery report galaxy.bin --kernels cpu-simd,cpu-tree --set theta=0.3,0.5,0.7 --out galaxy.html\n"
      "\nMeasures as 'orrery bench' does. The page holds a picture of the scene, plots, tables, the settings, the "
      "machine and the command line. It needs no other file. Ctrl+C ends measuring and keeps what was measured.");
}

void declare_verify(CLI::App& app, OptionDraft& draft) {
  VerifyOptions& verify = draft.verify;
  add_scene(app, draft, "LIST", "numbers of bodies (1,2,31,32,33,255,256,257,1000,4097)");
  add_kernel_file(app, draft, FileKernelUse::guarded,
                  "checks a kernel of your own with every value of its settings; repeatable");
  add_measured_kernels(app, draft);
  add_measurement(app, draft, verify.table, verify.progress, verify.files);
  add_devices(app, draft);
  add(app, "--sample", "all|N", fmt::format("bodies whose forces are checked ({})", verify.sample),
      [&](const std::string& text) { verify.sample = parse_sample("--sample", text); });
  add_flag(app, "--sample-only", verify.sample_only,
           "evaluates only the forces on these bodies: takes less time; kernels that cannot do this are skipped");
  add_flag(app, "--histogram", verify.histogram, "prints by how many units in the last place components are off");
  add_flag(app, "--digits", verify.digits, "compares coordinates after two steps with those of cpu-serial, by digit");
  add_law(app, draft, joined_ids(laws()) + " (both)");
  app.footer(
      "Examples:\n"
      "  orrery verify --kernels cpu-simd,cuda-tiled -n 1000,16k --law gravity\n"
      "  orrery verify --kernel-file mine.cu\n"
      "  orrery verify --kernels cuda-naive --set block=all -n 64k --sample all --histogram --digits\n"
      "\nErrors are limited to fractions of the sum of the sizes of all terms (docs/usage/verify.md). The exit status "
      "is 1 if a kernel breaks its promise.");
}

void declare_kernels(CLI::App& app, OptionDraft& draft) {
  add(app, "ID", "ID", "describes one kernel and what it teaches (lists all kernels)",
      [&](const std::string& text) { draft.described_kernel = text; });
  add_flag(app, "--json", draft.kernels.json, "prints JSON");
  add_table_flags(app, draft.kernels.table);
}

void declare_info(CLI::App& app, OptionDraft& draft) {
  add_flag(app, "--json", draft.info.json, "prints JSON");
  add(app, "-n", "N", "also reports whether this number of bodies fits into memory",
      [&](const std::string& text) { draft.info.bodies = parse_count("-n", text, body_counts); });
  add_table_flags(app, draft.info.table);
}

void declare_lesson(CLI::App& app, OptionDraft& draft) {
  LessonOptions& lesson = draft.lesson;
  add(app, "N", "N", "number of the lesson (lists all lessons)", [&](const std::string& text) {
    lesson.number = static_cast<int>(parse_integer("the number of a lesson", text, 1, lesson_files().back().number));
  });
  add_file(app, "--file", "runs a lesson of your own: a Markdown file, see docs/lessons/README.md", lesson.file);
  app.add_flag(
         "--no-wait", [&](std::int64_t) { lesson.wait = false; }, "does not ask for your prediction")
      ->disable_flag_override();
  add_flag(app, "--cpu", lesson.cpu, "measures CPU kernels, even if there is a GPU");
  add_progress(app, lesson.progress);
  add_table_flags(app, lesson.table);
  add_device(app, draft);
  app.footer(
      "Examples:\n"
      "  orrery lesson                                   lists the lessons\n"
      "  orrery lesson 3                                 asks for a prediction, measures and answers\n"
      "  orrery lesson --file mine.md --no-wait\n"
      "\nThe window has the same lessons: F7.");
}

}  // namespace orrery
