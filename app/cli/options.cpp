#include "app/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>

#include "app/camera_path/path_file.h"
#include "app/cli/near_miss.h"
#include "app/cli/option_draft.h"
#include "app/cli/read_script.h"
#include "app/cli/run_options.h"
#include "app/cli/start_options.h"
#include "app/commands/command_reference.h"
#include "app/lab/sweep/result_rows.h"
#include "app/text/lines.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "orrery_version.h"

namespace orrery {
namespace {

void refuse_generator_options_with_file(const OptionDraft& draft) {
  if (!draft.scene.file.empty() && !draft.generator_option.empty()) {
    throw UsageError(fmt::format("{} cannot be used with the file '{}', because the bodies come from it",
                                 draft.generator_option, draft.scene.file));
  }
}

void refuse_hints_without_file(const OptionDraft& draft) {
  if (draft.scene.file.empty() && !draft.hint_option.empty()) {
    throw UsageError(
        fmt::format("{} is about a file of bodies, and there is none: add a FILE, or leave it out", draft.hint_option));
  }
}

void refuse_seed_without_random_numbers(const OptionDraft& draft) {
  if (!draft.seeded || find_scene(draft.scene.scene).random) return;
  throw UsageError(fmt::format("--seed changes nothing in the scene '{}', which has no random numbers: leave it out",
                               draft.scene.scene));
}

template <class Kind, class Variant>
const Kind* request_of(const ScriptLine& line) {
  const Variant* variant = std::get_if<Variant>(&line.request);
  return variant ? std::get_if<Kind>(variant) : nullptr;
}

bool selects_attract_repel(const ScriptLine& line) {
  const auto* select = request_of<SelectLaw, Command>(line);
  return select && find_law(select->id) == LawId::attract_repel;
}

bool quits(const ScriptLine& line) {
  return request_of<Quit, ViewCommand>(line) != nullptr;
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

/// Of a picture with panels, or of one without. A display may need more.
void refuse_small_size(const std::optional<WindowSize>& size, bool panels) {
  const WindowSize least = panels ? least_window : least_picture;
  if (!size || (size->width >= least.width && size->height >= least.height)) return;
  throw UsageError(fmt::format("--size cannot be {}x{}; with{} the panel it must be at least {}x{}", size->width,
                               size->height, panels ? "" : "out", least.width, least.height));
}

/// Throws if a film that ends with `what` has too many frames; NaN is too many.
std::int64_t film_length(double frames, const std::string& what) {
  if (frames <= static_cast<double>(FilmOptions::lengths.most)) return static_cast<std::int64_t>(frames);
  throw UsageError(fmt::format("{} ends after {:.3g} frames; a film has at most {}", what, frames,
                               format_count(FilmOptions::lengths.most)));
}

/// Without --frames, a film is as long as its script or its path.
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

/// A folder has no extension, or is there already.
bool is_folder(const std::string& film) {
  std::error_code unknown;
  const std::filesystem::path path{film};
  return path.extension().empty() || !path.has_filename() || std::filesystem::is_directory(path, unknown);
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

LessonOptions finish_lesson(const OptionDraft& draft) {
  LessonOptions lesson = draft.lesson;
  lesson.device = draft.device;
  if (lesson.number && !lesson.file.empty()) {
    throw UsageError(fmt::format("the number {} and --file name two lessons: leave out one of them", *lesson.number));
  }
  return lesson;
}

/// What bench and verify have in common.
template <class MeasureOptions>
void finish_measurement(OptionDraft& draft, MeasureOptions& options, const std::vector<int>& default_counts) {
  draft.put_devices(options);
  check_axes(draft.selection, draft.axes);
  options.scene = draft.scene;
  options.counts = draft.counts.empty() ? default_counts : draft.counts;
  options.kernels = draft.selection;
  options.axes = draft.axes;
  options.files.existing = draft.existing();
  options.setup = draft.physics;
  if (!options.scene.file.empty()) return;
  for (const int count : options.counts) (void)allowed_count(find_scene(options.scene.scene), count);
}

/// The protocol decides numbers of bodies, integrator, warm-up and repeats; it has no interval to compare by.
void refuse_what_a_protocol_decides(const OptionDraft& draft) {
  const std::string option = !draft.scene.file.empty()             ? "the file '" + draft.scene.file + "'"
                             : !draft.bench.baseline_files.empty() ? "--baseline"
                                                                   : draft.procedure_option;
  if (option.empty()) return;
  throw UsageError(
      fmt::format("{} cannot be used with --protocol uth, which measures the mean of 10 runs of 10 steps "
                  "of {} and {} bodies: leave it out",
                  option, fmt::join(std::span{uth_protocol::counts}.first(2), ", "), uth_protocol::counts.back()));
}

BenchOptions finish_bench(OptionDraft& draft) {
  if (draft.noise && draft.bench.baseline_files.empty()) {
    throw UsageError("--noise needs --baseline, which is not given: add --baseline OLD");
  }
  draft.bench.noise = draft.noise.value_or(usual_noise);
  add_law_command(draft);
  draft.bench.accuracy = accuracy_of_auto(draft);
  refuse_constants_without_their_law(draft, draft.law == LawId::attract_repel);
  refuse_eta_without_block_steps(draft);
  if (draft.bench.uth) {
    refuse_what_a_protocol_decides(draft);
    draft.physics.push_back(SelectIntegrator{uth_protocol::integrator});
    draft.counts.assign(uth_protocol::counts.begin(), uth_protocol::counts.end());
  }
  finish_measurement(draft, draft.bench, {0});
  return draft.bench;
}

ReportOptions finish_report(OptionDraft& draft, const std::vector<std::string>& words) {
  ReportOptions& report = draft.report;
  if (report.file.empty()) throw UsageError("'orrery report' needs the name of the page: --out FILE.html");
  report.count_given = !draft.counts.empty();
  report.bench = finish_bench(draft);
  refuse_small_size(draft.view.size, /*panels=*/false);
  report.picture = draft.view.size.value_or(WindowSize{});
  report.theme = draft.view.theme.value_or(render::Theme::dark);
  report.words = words;
  return report;
}

VerifyOptions finish_verify(OptionDraft& draft) {
  if (!draft.scene_named) draft.scene.scene = "plummer";  // the one whose bodies may be any number
  std::vector<int> counts;
  if (!draft.scene.file.empty() || find_scene(draft.scene.scene).fixed_count > 0) {
    counts = {0};
  } else {
    const std::vector<int> usual = draft.kernel_file.empty() ? std::vector{1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097}
                                                             : std::vector{1, 31, 33, 257, 4097};
    for (const int count : usual) {
      if (count >= find_scene(draft.scene.scene).min_count) counts.push_back(count);
    }
  }
  refuse_constants_without_their_law(draft, draft.law != LawId::gravity);
  draft.verify.accuracy = accuracy_of_auto(draft);
  finish_measurement(draft, draft.verify, counts);
  draft.verify.laws = draft.law ? std::vector{*draft.law} : std::vector{LawId::gravity, LawId::attract_repel};
  draft.verify.each_value = !draft.kernel_file.empty() && draft.axes.empty();
  return draft.verify;
}

std::string version_line() {
  return fmt::format("orrery {} ({}), {} HDF5\n", version, git_id, has_hdf5() ? "with" : "without");
}

/// From CLI11's "--kernel: 1 required", or "offscreen was given a disallowed flag override".
std::string wrong_number_of_values(const std::string& what) {
  const std::size_t flag = what.find(" was given a disallowed flag");
  if (flag != std::string::npos)
    return fmt::format("--{} takes no value: leave out what follows '='", what.substr(0, flag));
  return what.substr(0, what.find(':')) + " needs a value after it";
}

}  // namespace

std::string fitted_help(const std::string& text, const TextStyle& style) {
  constexpr std::size_t descriptions = 30;  // where CLI11 starts them
  std::string fitted;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t names = line.find("  ", 2);  // of options, files and subcommands end there
    const bool described = line.starts_with("  ") && line.find_first_not_of(' ', names) == descriptions;
    fitted += columns_of(line) <= style.columns ? line + '\n' : paragraph(line, style, described ? descriptions : 0);
  }
  return fitted;
}

Options parse_options(KernelCatalog& kernels, const std::vector<std::string>& words, bool takes_over) {
  if (words == std::vector<std::string>{"help", "script"}) return ShowText{command_reference()};
  if (words == std::vector<std::string>{"help", "script", "--markdown"})
    return ShowText{command_reference_markdown(), true};
  if (words == std::vector<std::string>{"help", "keys"}) return ShowKeys{};
  if (words == std::vector<std::string>{"help", "keys", "--markdown"}) return ShowKeys{{.markdown = true}};
  const std::vector<std::string> arguments = with_help_as_option(words);
  OptionDraft draft{kernels};
  draft.takes_over = takes_over;
  CLI::App app{"Orrery: an interactive laboratory for gravitational N-body computation on CPUs and NVIDIA GPUs.",
               "orrery"};
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.footer(
      "Without a subcommand it is 'view'. 'orrery help SUBCOMMAND' lists a subcommand's options, 'orrery help "
      "script' the commands of a script, 'orrery help keys' the keys of the window.");
  CLI::App& view = *app.add_subcommand("view", "shows a living system of bodies in a window, or runs it offscreen");
  CLI::App& render = *app.add_subcommand("render", "renders a film without a window or display");
  CLI::App& bench = *app.add_subcommand("bench", "measures kernels, settings and numbers of bodies");
  CLI::App& report = *app.add_subcommand("report", "measures kernels and writes a page with plots, for people");
  CLI::App& verify = *app.add_subcommand("verify", "checks kernels against a sum in double precision");
  CLI::App& profile = *app.add_subcommand("profile", "measures where the time of kernels goes, by hardware counters");
  CLI::App& compare =
      *app.add_subcommand("compare", "runs two variants from the same bodies and measures how they diverge");
  CLI::App& race =
      *app.add_subcommand("race", "finds the kernel, integrator and time step that keep the energy at the least cost");
  CLI::App& run = *app.add_subcommand("run", "runs a simulation without a window, with snapshots and checkpoints");
  CLI::App& replay = *app.add_subcommand("replay", "computes a run of a window again and compares its states");
  CLI::App& convert = *app.add_subcommand("convert", "converts a file of bodies to another format");
  CLI::App& inspect = *app.add_subcommand("inspect", "reports what a file of bodies holds");
  CLI::App& list = *app.add_subcommand("kernels", "lists the kernels, their settings and their sources");
  CLI::App& info = *app.add_subcommand("info", "reports devices, drivers and OpenGL, and how to fix what fails");
  info.alias("doctor");
  CLI::App& lesson = *app.add_subcommand("lesson", "teaches by measuring on this machine, in twelve lessons");
  CLI::App& new_kernel = *app.add_subcommand("new-kernel", "writes a kernel file, to start from");
  declare_view(view, draft);
  declare_render(render, draft);
  declare_bench(bench, draft);
  declare_report(report, draft);
  declare_verify(verify, draft);
  declare_profile(profile, draft);
  declare_compare(compare, draft);
  declare_race(race, draft);
  declare_run(run, draft);
  declare_replay(replay, draft);
  declare_kernels(list, draft);
  declare_info(info, draft);
  declare_convert(convert, draft);
  declare_inspect(inspect, draft);
  declare_lesson(lesson, draft);
  declare_new_kernel(new_kernel, draft);
  for (CLI::App* subcommand : app.get_subcommands({})) subcommand->allow_extras();

  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};  // the order that CLI11 wants
  constexpr std::array<std::string_view, 3> own_options{"--help", "-h", "--version"};
  const bool top_level =
      !arguments.empty() && (std::ranges::find(subcommands(), arguments.front()) != subcommands().end() ||
                             std::ranges::find(own_options, arguments.front()) != own_options.end());
  if (!top_level) reversed.push_back("view");
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return ShowText{app.help()};
  } catch (const CLI::CallForVersion&) {
    return ShowText{version_line()};
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(wrong_number_of_values(error.what()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(one_line(error.what()));
  }
  const CLI::App& chosen = *app.get_subcommands().front();
  for (const std::string& rest : chosen.remaining()) {
    if (rest != "--")
      refuse_argument(kernels, chosen, rest, arguments);  // CLI11 leaves the mark between options and files in place
  }
  if (&chosen == &convert) return finish_convert(draft);
  if (&chosen == &inspect) return finish_inspect(draft);
  if (&chosen == &replay) return finish_replay(draft);
  if (&chosen == &new_kernel) return finish_new_kernel(draft);
  refuse_generator_options_with_file(draft);
  refuse_hints_without_file(draft);
  refuse_seed_without_random_numbers(draft);
  if (!takes_over) refuse_word_for_file(kernels, chosen, draft.scene.file, !top_level);
  if (&chosen == &view) return finish_view(draft);
  if (&chosen == &render) return finish_render(draft);
  if (&chosen == &bench) return finish_bench(draft);
  if (&chosen == &report) return finish_report(draft, words);
  if (&chosen == &verify) return finish_verify(draft);
  if (&chosen == &run) return finish_run(draft);
  if (&chosen == &lesson) return finish_lesson(draft);
  if (&chosen == &profile || &chosen == &compare || &chosen == &race) {
    add_law_command(draft);
    refuse_constants_without_their_law(draft, draft.law == LawId::attract_repel);
    if (&chosen == &profile) return finish_profile(draft);
    if (&chosen == &compare) return finish_compare(draft);
    return finish_race(draft);
  }
  const TableFlags& table = &chosen == &list ? draft.kernels.table : draft.info.table;
  if ((draft.kernels.json || draft.info.json) && (table.wide || table.markdown)) {
    throw UsageError("--json has no tables: leave out --wide and --markdown");
  }
  if (&chosen == &list) {
    if (!draft.described_kernel.empty()) draft.kernels.only = kernels.find(draft.described_kernel)->id;
    return draft.kernels;
  }
  return draft.info;
}

}  // namespace orrery
